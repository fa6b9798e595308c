import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import description from '../../package.json' with { type: 'json' };
import { setTimeout as delay } from 'node:timers/promises';
import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  GetItemCommand,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { makeKeptDirectory } from '../machine/data-directory.ts';
import { freePort } from '../machine/listen.ts';
import { localCredentials } from '../machine/environment.ts';
import { tableDefinition } from '../../shared/table/table.ts';

/** A process of the embedded DynamoDB engine, which may not answer yet. */
export interface DynamoDbEngine {
  /** Resolves when the engine's process listens on its port. An answer from the port alone may be that of another process. */
  listening: Promise<undefined>;
  /**
   * Resolves when the engine's process has ended or could not be started, with the reason: the end of its error output, or its
   * exit code.
   */
  ended: Promise<string>;
  stop: () => Promise<void>;
}

const keptErrorOutputInCharacters = 500;

/**
 * Spawns a process of the embedded DynamoDB engine, with its state in `file`, or in memory if that is undefined. @throws Error
 * with instructions if there is no engine for this platform
 */
function spawnDynamoDbEngine(port: number, file: string | undefined): DynamoDbEngine {
  const state = file === undefined ? [] : ['--db-path', file];
  const engine = spawn('sh', ['-c', whileParentLives, engineBinary(), '--port', String(port), ...state], {
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true, // keeps Ctrl-C from the engine: the service stops it after its own shutdown
  });
  let errorOutput = '';
  const listening = Promise.withResolvers<undefined>();
  engine.stderr.on('data', (chunk: Buffer) => {
    errorOutput = (errorOutput + chunk.toString()).slice(-keptErrorOutputInCharacters);
    if (!errorOutput.includes(`listening on http://127.0.0.1:${port}`)) return;
    errorOutput = ''; // no reason for an end
    listening.resolve(undefined);
  });
  engine.stdin.on('error', () => undefined); // the engine has already ended
  const ended = new Promise<string>((resolve) => {
    engine.once('error', ({ message }) => resolve(`it needs the shell sh, which cannot be run (${message})`));
    engine.once('close', (code) => resolve(errorOutput.trim() || `exit code ${code ?? 'unknown'}`));
  });
  return {
    listening: listening.promise,
    ended,
    stop: async () => {
      engine.stdin.end();
      await ended;
    },
  };
}

/**
 * A shell script that runs a program until the script's standard input closes, so that the program never outlives its parent,
 * however the parent ends.
 */
const whileParentLives = `
umask 077
exec 3<&0
"$0" "$@" 3<&- < /dev/null & program=$!
(read -r _ <&3; kill "$program") 2> /dev/null & reader=$!
wait "$program"
code=$?
kill "$reader" 2> /dev/null
exit "$code"`;

/**
 * The platforms for which the embedded DynamoDB engine is published. npm installs the engine for Linux x64 by itself; the other
 * platforms take one more command.
 */
const published = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

/**
 * Returns the path of the embedded DynamoDB engine for a platform.
 * @throws Error with the command to type if the engine is not installed
 */
export function engineBinary(platform = `${process.platform}-${process.arch}`): string {
  const name = `@dynoxide/${platform}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'dynoxide');
  } catch {
    throw new Error(published.includes(platform) ? notInstalled(platform, name) : notPublished(platform));
  }
}

function notInstalled(platform: string, name: string): string {
  const version = description.optionalDependencies['@dynoxide/linux-x64'];
  return `The embedded DynamoDB engine for ${platform} is not installed. Install it, then start again:\n\n  npm install --no-save ${name}@${version}\n`;
}

function notPublished(platform: string): string {
  return (
    `There is no embedded DynamoDB engine for ${platform}. Start another one, then start again:\n\n` +
    '  docker run -d -p 8000:8000 amazon/dynamodb-local\n  DYNAMODB_ENDPOINT=http://localhost:8000 npm start\n'
  );
}

/** A running DynamoDB engine on this machine. */
export interface LocalDynamoDb {
  endpoint: string;
  /**
   * Says whether the engine listens at the endpoint. Between the engine's end and its restart, another program may listen there.
   */
  isListening: () => boolean;
  stop: () => Promise<void>;
}

export interface LocalDynamoDbOptions {
  dataDirectory?: string | undefined;
  /** Called once if the engine ends and is not restarted. The message of the error is for the user. */
  onLost?: (error: Error) => void;
  /**
   * The pause in milliseconds before the first restart of the engine. The pause doubles with each further restart. Default: 100.
   */
  firstPauseInMilliseconds?: number;
  /** Finds a free TCP port for the DynamoDB engine. If another process takes it first, another one is looked for. Default: freePort. */
  findPort?: () => Promise<number>;
}

const mostPorts = 10;
/**
 * Matches the error output of the engine when its port is taken: the engine has found another listener, or cannot bind the port.
 */
const isPortTaken = /(?:port|bind).*\bin use\b/;
const mostRestartsInARow = 5;
const steadyAfterInMilliseconds = 60_000;

/** Returns the file that has the table of a service with this data directory. */
export const fileOfTable = (dataDirectory: string) => join(dataDirectory, 'dynamodb.sqlite');

/**
 * Starts the embedded DynamoDB engine, in memory or on a file under `dataDirectory`. An engine on a file is restarted on the same
 * port when it ends. If another program has taken the port by then, the engine is lost. If the environment variable
 * `DYNAMODB_ENDPOINT` names another engine, uses that engine and never stops it.
 * @throws Error with instructions if there is no engine for this platform and none is named, or if the engine fails to start
 */
export async function startDynamoDb({
  dataDirectory,
  onLost,
  firstPauseInMilliseconds = 100,
  findPort = freePort,
}: LocalDynamoDbOptions = {}): Promise<LocalDynamoDb> {
  const given = process.env['DYNAMODB_ENDPOINT'];
  if (given) return { endpoint: given, isListening: () => true, stop: () => Promise.resolve() };

  const file = dataDirectory === undefined ? undefined : fileOfTable(dataDirectory);
  if (dataDirectory !== undefined) makeKeptDirectory(dataDirectory);
  const { port, engine: first } = await startEngine(findPort, file);
  let engine = first;
  let isListening = true;

  const stopping = new AbortController();
  const isStopping = () => stopping.signal.aborted;
  const watch = async () => {
    for (let restarts = 0; ;) {
      const startedAt = performance.now();
      const reason = await engine.ended;
      isListening = false;
      if (isStopping()) return;
      if (performance.now() - startedAt > steadyAfterInMilliseconds) restarts = 0;
      if (file === undefined) {
        onLost?.(new Error(`The embedded DynamoDB engine ended (${reason}). The state was in memory and is lost.`));
        return;
      }
      if (restarts === mostRestartsInARow) {
        onLost?.(new Error(`The embedded DynamoDB engine keeps ending: ${reason}${adviceOn(file)}`));
        return;
      }
      process.stderr.write(`The embedded DynamoDB engine ended (${reason}). Restarting it.\n`);
      const pause = firstPauseInMilliseconds * 2 ** restarts;
      const continues = await delay(pause, true, { signal: stopping.signal }).catch(() => false);
      if (!continues) return;
      restarts += 1;
      engine = spawnDynamoDbEngine(port, file);
      const failure = await failureToListen(engine);
      if (failure === undefined) {
        isListening = true;
        continue;
      }
      await engine.stop();
      if (!isStopping() && isPortTaken.test(failure)) {
        onLost?.(new Error(portIsLost(port, file)));
        return;
      }
    }
  };
  const watching = watch();
  return {
    endpoint: `http://127.0.0.1:${port}`,
    isListening: () => isListening,
    stop: async () => {
      stopping.abort();
      await engine.stop();
      await watching;
    },
  };
}

/**
 * Starts the embedded DynamoDB engine on a port that `findPort` finds, and on another one if the port is taken by then. @throws
 * Error if the engine fails to start
 */
async function startEngine(findPort: () => Promise<number>, file: string | undefined) {
  for (let attempt = 1; ; attempt++) {
    const port = await findPort();
    const engine = spawnDynamoDbEngine(port, file);
    const failure = await failureToListen(engine);
    if (failure === undefined) return { port, engine };
    await engine.stop();
    if (attempt < mostPorts && isPortTaken.test(failure)) continue;
    throw new Error(`The embedded DynamoDB engine failed to start: ${failure}${file === undefined ? '' : adviceOn(file)}`);
  }
}

function portIsLost(port: number, file: string): string {
  return (
    `The embedded DynamoDB engine ended, and another program took its port ${port} before the restart.` +
    `\nThe state is kept in ${file}. Start the service again: its engine gets another port.`
  );
}

function adviceOn(file: string): string {
  return `\nIts state is in ${file}. If the disk is full, free some space and start again; otherwise restore the file from a backup.`;
}

/** Creates the service's table in a DynamoDB engine if the table does not exist, and enables the expiry of its items. */
export async function createTable(endpoint: string, tableName: string): Promise<void> {
  const client = new DynamoDBClient({ endpoint, region: 'local', credentials: localCredentials });
  try {
    await createMissingTable(client, tableName);
    await enableTimeToLive(client, tableName);
  } finally {
    client.destroy();
  }
}

async function createMissingTable(client: DynamoDBClient, tableName: string): Promise<void> {
  await createUnlessThere(client, tableName);
  if (await isThere(client, tableName)) return;
  // The disk became full while the engine created the table: the engine lists it, but it does not exist.
  await client.send(new DeleteTableCommand({ TableName: tableName }));
  await createUnlessThere(client, tableName);
  if (await isThere(client, tableName)) return;
  throw new Error('Cannot create the table. If the disk is full, free some space and start again.');
}

async function isThere(client: DynamoDBClient, tableName: string): Promise<boolean> {
  const Key = { [tableDefinition.partitionKey]: { S: 'none' }, [tableDefinition.sortKey]: { S: 'none' } };
  try {
    await client.send(new GetItemCommand({ TableName: tableName, Key }));
    return true;
  } catch (error) {
    if (error instanceof Error && error.message.includes('no such table')) return false;
    throw error;
  }
}

async function createUnlessThere(client: DynamoDBClient, TableName: string): Promise<void> {
  const { partitionKey, sortKey } = tableDefinition;
  try {
    await client.send(
      new CreateTableCommand({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [partitionKey, sortKey].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
        KeySchema: [
          { AttributeName: partitionKey, KeyType: 'HASH' },
          { AttributeName: sortKey, KeyType: 'RANGE' },
        ],
      }),
    );
  } catch (error) {
    if (error instanceof ResourceInUseException) return;
    throw new Error(`Cannot create the table: ${String(error)}`, { cause: error });
  }
}

/**
 * Enables the expiry of the table's items. Checks first, because a kept table already has the setting, and DynamoDB Local refuses
 * to enable it twice.
 */
async function enableTimeToLive(client: DynamoDBClient, tableName: string): Promise<void> {
  const { TimeToLiveDescription: found } = await client.send(new DescribeTimeToLiveCommand({ TableName: tableName }));
  if (found?.TimeToLiveStatus === 'ENABLED') return;
  const specification = { AttributeName: tableDefinition.timeToLive, Enabled: true };
  await client.send(new UpdateTimeToLiveCommand({ TableName: tableName, TimeToLiveSpecification: specification }));
}

/**
 * The time in milliseconds after which a DynamoDB engine that does not listen has failed to start. A start takes 0.1 s, or many
 * seconds on a busy machine.
 */
const startTimeoutInMilliseconds = 60_000;

/**
 * Waits until a DynamoDB engine listens on its port. @returns the problem if the engine ends instead, or needs longer than a
 * minute; otherwise undefined
 */
async function failureToListen(engine: DynamoDbEngine): Promise<string | undefined> {
  const over = new AbortController();
  const { signal } = over;
  const late = 'it does not listen on its port after a minute';
  const tooLate = delay(startTimeoutInMilliseconds, late, { signal }).catch(() => undefined);
  const failure = await Promise.race([engine.listening, engine.ended, tooLate]);
  over.abort();
  return failure;
}

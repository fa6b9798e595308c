import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CreateTableCommand, DynamoDBClient, ResourceInUseException } from '@aws-sdk/client-dynamodb';
import { tableDefinition } from '../table-definition.ts';
import { freePort } from './free-port.ts';
import { localCredentials } from './local-credentials.ts';

/** A running DynamoDB engine. */
export interface LocalDynamoDb {
  endpoint: string;
  stop: () => Promise<void>;
}

/**
 * Starts the embedded DynamoDB engine, in memory or on a file under `dataDirectory`. Where `DYNAMODB_ENDPOINT` names an
 * engine that is already running (DynamoDB Local in Docker, say), that one is used and never stopped.
 * @throws Error where no engine exists for the platform and none is named, saying what to do.
 */
export async function startDynamoDb(options: { dataDirectory?: string } = {}): Promise<LocalDynamoDb> {
  const given = process.env['DYNAMODB_ENDPOINT'];
  if (given) return { endpoint: given, stop: () => Promise.resolve() };

  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const file = options.dataDirectory && join(options.dataDirectory, 'dynamodb.sqlite');
  if (options.dataDirectory) mkdirSync(options.dataDirectory, { recursive: true });
  const engine = spawn(
    'sh',
    ['-c', whileParentLives, engineBinary(), '--port', String(port), ...(file ? ['--db-path', file] : [])],
    {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true, // a Ctrl-C is for the service, which ends the engine when it has ended itself
    },
  );
  const ended = new Promise<void>((resolve) => engine.once('exit', () => resolve()));

  await untilItAnswers(endpoint, () => engine.exitCode !== null);
  return {
    endpoint,
    stop: async () => {
      engine.stdin.end();
      await ended;
    },
  };
}

/** Runs a program until its standard input ends, so that it never outlives its parent, however that ends. */
const whileParentLives = `
exec 3<&0
"$0" "$@" 3<&- < /dev/null & program=$!
(read -r _ <&3; kill "$program") & reader=$!
wait "$program"
code=$?
kill "$reader" 2> /dev/null
exit "$code"`;

/** Creates the service's table, unless it is there already. */
export async function createTable(endpoint: string, tableName: string): Promise<void> {
  const client = new DynamoDBClient({ endpoint, region: 'local', credentials: localCredentials });
  try {
    await client.send(
      new CreateTableCommand({
        TableName: tableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [
          { AttributeName: tableDefinition.partitionKey, AttributeType: 'S' },
          { AttributeName: tableDefinition.sortKey, AttributeType: 'S' },
        ],
        KeySchema: [
          { AttributeName: tableDefinition.partitionKey, KeyType: 'HASH' },
          { AttributeName: tableDefinition.sortKey, KeyType: 'RANGE' },
        ],
      }),
    );
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  } finally {
    client.destroy();
  }
}

function engineBinary(): string {
  const name = `@dynoxide/${process.platform}-${process.arch}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'dynoxide');
  } catch {
    throw new Error(
      `There is no embedded DynamoDB engine for ${process.platform}-${process.arch} (package ${name}). ` +
        'Start DynamoDB Local (docker run -p 8000:8000 amazon/dynamodb-local) and set DYNAMODB_ENDPOINT=http://localhost:8000.',
    );
  }
}

/** It takes a tenth of a second, or many seconds on a busy machine. */
const startPatienceInMilliseconds = 60_000;

async function untilItAnswers(endpoint: string, hasEnded: () => boolean): Promise<void> {
  const givesUpAt = performance.now() + startPatienceInMilliseconds;
  while (performance.now() < givesUpAt) {
    if (hasEnded()) throw new Error('The embedded DynamoDB engine ended at its start.');
    try {
      await fetch(endpoint, { signal: AbortSignal.timeout(1_000) });
      return;
    } catch {
      await delay(25);
    }
  }
  throw new Error(`The embedded DynamoDB engine does not answer at ${endpoint}.`);
}

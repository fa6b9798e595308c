import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  CreateTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { tableDefinition } from '../table-definition.ts';
import { spawnDynamoDbEngine } from './dynamodb-engine.ts';
import { freePort } from './free-port.ts';
import { localCredentials } from './local-credentials.ts';

/** A running DynamoDB engine. */
export interface LocalDynamoDb {
  endpoint: string;
  stop: () => Promise<void>;
}

export interface LocalDynamoDbOptions {
  dataDirectory?: string;
  /** Called once where the engine has ended for good, with a message for whoever watches. */
  onLost?: (error: Error) => void;
}

const mostRestartsInARow = 5;
const steadyAfterInMilliseconds = 60_000;
const shortestPauseInMilliseconds = 100;

/**
 * Starts the embedded DynamoDB engine, in memory or on a file under `dataDirectory`. An engine on a file that ends is started
 * again, on the same port. Where `DYNAMODB_ENDPOINT` names an engine that is already running (DynamoDB Local in Docker, say),
 * that one is used and never stopped.
 * @throws Error where no engine exists for the platform and none is named, or where it ends at its start, saying what to do.
 */
export async function startDynamoDb({ dataDirectory, onLost }: LocalDynamoDbOptions = {}): Promise<LocalDynamoDb> {
  const given = process.env['DYNAMODB_ENDPOINT'];
  if (given) return { endpoint: given, stop: () => Promise.resolve() };

  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const file = dataDirectory === undefined ? undefined : join(dataDirectory, 'dynamodb.sqlite');
  if (dataDirectory !== undefined) mkdirSync(dataDirectory, { recursive: true });
  let engine = spawnDynamoDbEngine(port, file);
  const failure = await Promise.race([untilItAnswers(endpoint), engine.ended]);
  if (failure !== undefined) {
    await engine.stop();
    throw new Error(`The embedded DynamoDB engine ended at its start: ${failure}${file === undefined ? '' : adviceOn(file)}`);
  }

  const stopping = new AbortController();
  const watch = async () => {
    for (let restarts = 0; ;) {
      const startedAt = performance.now();
      const reason = await engine.ended;
      if (stopping.signal.aborted) return;
      if (performance.now() - startedAt > steadyAfterInMilliseconds) restarts = 0;
      if (file === undefined) {
        onLost?.(new Error(`The embedded DynamoDB engine has ended (${reason}). The state was in memory and is lost.`));
        return;
      }
      if (restarts === mostRestartsInARow) {
        onLost?.(new Error(`The embedded DynamoDB engine ends again and again: ${reason}${adviceOn(file)}`));
        return;
      }
      process.stderr.write(`The embedded DynamoDB engine has ended (${reason}). It is started again.\n`);
      const pause = shortestPauseInMilliseconds * 2 ** restarts;
      const goesOn = await delay(pause, true, { signal: stopping.signal }).catch(() => false);
      if (!goesOn) return;
      restarts += 1;
      engine = spawnDynamoDbEngine(port, file);
    }
  };
  const watching = watch();
  return {
    endpoint,
    stop: async () => {
      stopping.abort();
      await engine.stop();
      await watching;
    },
  };
}

function adviceOn(file: string): string {
  return `\nIts state is in ${file}. If the disk is full, free some space and start again; otherwise restore the file from a backup.`;
}

/** Creates the service's table unless it exists, and has its items expire. */
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
    if (error instanceof ResourceInUseException) return;
    throw new Error(`The table cannot be created: ${String(error)}`, { cause: error });
  }
}

/** Also for a table of an earlier version. DynamoDB Local refuses to enable it twice. */
async function enableTimeToLive(client: DynamoDBClient, tableName: string): Promise<void> {
  const { TimeToLiveDescription: found } = await client.send(new DescribeTimeToLiveCommand({ TableName: tableName }));
  if (found?.TimeToLiveStatus === 'ENABLED') return;
  const specification = { AttributeName: tableDefinition.timeToLive, Enabled: true };
  await client.send(new UpdateTimeToLiveCommand({ TableName: tableName, TimeToLiveSpecification: specification }));
}

/** It takes a tenth of a second, or many seconds on a busy machine. */
const startPatienceInMilliseconds = 60_000;

/** @returns what is wrong if it never answers */
async function untilItAnswers(endpoint: string): Promise<string | undefined> {
  const givesUpAt = performance.now() + startPatienceInMilliseconds;
  while (performance.now() < givesUpAt) {
    try {
      await fetch(endpoint, { signal: AbortSignal.timeout(1_000) });
      return undefined;
    } catch {
      await delay(25);
    }
  }
  return `it does not answer at ${endpoint}`;
}

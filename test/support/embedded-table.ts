import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { engineClient } from '../../local/dynamodb/engine-client.ts';
import { createTable, startDynamoDb } from '../../local/dynamodb/dynamodb.ts';
import { local, localCredentials } from '../../local/machine/environment.ts';
import { Deadline } from '../../shared/runtime/deadline.ts';
import { documentClient, type Table, type Item } from '../../shared/table/table.ts';
import { type DynamoDbProxy, startDynamoDbProxy } from './dynamodb-proxy.ts';
import { amount } from './amounts.ts';
import { patientClock, untilTestEnds } from './patience.ts';

/** Creates the service's own client for the embedded engine, or for what stands in front of it. */
export function documentAt(endpoint: string, options: DynamoDBClientConfig = {}): DynamoDBDocumentClient {
  const document = documentClient(new DynamoDBClient({ endpoint, region: 'local', credentials: localCredentials, ...options }));
  sendUnsigned(document, 'dynamodb');
  return document;
}

/**
 * Makes a client send its calls without a signature, which takes a quarter of a call's processor time. The engines of this machine
 * check none, but they ask for its headers, and DynamoDB Local for the credentials in them.
 */
function sendUnsigned({ config }: { config: { signer: unknown } }, service: string): void {
  const credential = `${localCredentials.accessKeyId}/20260101/local/${service}/aws4_request`;
  const authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=host, Signature=none`;
  const sign = (request: { headers: Record<string, string> }) => {
    Object.assign(request.headers, { 'x-amz-date': '20260101T000000Z', authorization });
    return Promise.resolve(request);
  };
  config.signer = () => Promise.resolve({ sign });
}

/** A deadline that a busy machine does not exceed: the time limit of the test ends it first. */
export const patientDeadline = () => new Deadline(untilTestEnds.timeout);

export interface EmbeddedTable {
  table: Table;
  endpoint: string;
  stop: () => Promise<void>;
}

/**
 * Starts an engine with a new table, used through the client of one machine: it takes half of the SDK's processor time, and
 * test/local/dynamodb/engine-client.service.test.ts holds it against the SDK. Tests in full use the SDK.
 * @param options.bySdk whether `npm test` uses the table through the SDK too, as on AWS: for tests of the table itself, and
 *   of single writes at the same moment, which the client of one machine sends together
 */
export async function startEmbeddedTable({ bySdk = false } = {}): Promise<EmbeddedTable> {
  const engine = await startDynamoDb();
  const name = local.tableName; // the name that setEnvironment sets for the functions
  await createTable(engine.endpoint, name);
  const isBySdk = amount({ sample: bySdk, full: true });
  const document = isBySdk ? documentAt(engine.endpoint) : engineClient(engine.endpoint, () => true);
  return {
    table: { name, document, deadline: patientDeadline, clock: patientClock },
    endpoint: engine.endpoint,
    stop: async () => {
      document.destroy();
      await engine.stop();
    },
  };
}

export interface ProxiedTable {
  /** The table through the proxy, to measure or disturb calls. */
  table: Table;
  /** The same table directly on the engine, to fill it. */
  direct: Table;
  proxy: DynamoDbProxy;
  stop: () => Promise<void>;
}

/** Starts an engine with a new table, behind a proxy that records calls and injects faults. */
export async function startProxiedTable(options: { latencyInMilliseconds?: number } = {}): Promise<ProxiedTable> {
  const embedded = await startEmbeddedTable();
  const proxy = await startDynamoDbProxy(embedded.endpoint, options);
  const document = documentAt(proxy.endpoint);
  return {
    table: { name: embedded.table.name, document, deadline: patientDeadline, clock: patientClock },
    direct: embedded.table,
    proxy,
    stop: async () => {
      document.destroy();
      await proxy.stop();
      await embedded.stop();
    },
  };
}

/** A command of the table's client, with the parts of its input that tests look at. */
export interface Command {
  input: { Item?: Item; Key?: Item; ExpressionAttributeValues?: Item };
}

/** The same table, with calls that go through `around`. @param around gets what sends a call, and its command */
export function tableThrough(table: Table, around: (send: () => Promise<unknown>, command: Command) => Promise<unknown>): Table {
  const { document } = table;
  const send = (...sent: [Command, ...unknown[]]) =>
    around(() => (document.send as (...sent: unknown[]) => Promise<unknown>)(...sent), sent[0]);
  const through = new Proxy(document, {
    get: (target, name) => (name === 'send' ? send : (Reflect.get(target, name) as unknown)),
  });
  return { ...table, document: through };
}

/** Starts a table whose first answer to a batch leaves all keys unprocessed, as a busy partition does. Logs calls and pauses. */
export async function startBusyTable(command: 'BatchGet' | 'BatchWrite') {
  const proxied = await startProxiedTable({ latencyInMilliseconds: 0 });
  const { table } = proxied;
  const log: string[] = [];
  class LoggedDeadline extends Deadline {
    override pause(): Promise<void> {
      log.push('pause');
      return Promise.resolve();
    }
  }
  table.document.middlewareStack.add(
    (next, { commandName }) =>
      async (sent) => {
        if (!String(commandName).startsWith(command)) return await next(sent);
        log.push('send');
        if (log.length > 1) return await next(sent);
        const { RequestItems } = sent.input as { RequestItems: Record<string, unknown> };
        const left = { UnprocessedKeys: RequestItems, UnprocessedItems: RequestItems };
        return { output: { ...left, $metadata: {} }, response: {} };
      },
    { step: 'initialize' },
  );
  return { table: { ...table, deadline: () => new LoggedDeadline(untilTestEnds.timeout) }, log, stop: proxied.stop };
}

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { Table } from '../../../shared/table/table.ts';
import { documentAt, startEmbeddedTable } from '../embedded-table.ts';
import { seededRandom } from '../seeded-random.ts';
import { connectEngine, createRehearsal, readKeySchemas } from './engine.ts';
import { createItemLocks, createReveals, createTransactionTokens, type Figures, type Front } from './front.ts';
import { batchGetItem, batchWriteItem, getItem, writeItem } from './items.ts';
import { checkExpressions, checkRequestSize, createUnitMeter, type UnitLimits, type Units } from './limits.ts';
import { readPage } from './pages.ts';
import { transactGetItems, transactWriteItems } from './transactions.ts';
import { type Json, WireError } from './wire.ts';
import { systemTimerClock, type TimerClock } from '../../../shared/runtime/deadline.ts';

export interface AwsDynamoDbOptions {
  /** Default: the system clock. */
  clock?: TimerClock;
  /** The seed of all random times and orders. Default 1. */
  seed?: number;
  /** Milliseconds that a transaction holds its items after its outcome is decided. Default 15. */
  transactionInMilliseconds?: number;
  /** Milliseconds that a single write continues after it has become visible. Default 0. */
  singleWriteInMilliseconds?: number;
  /** The longest pause between two pieces of a page, or two items of a batch. Default 0. */
  betweenReadsInMilliseconds?: number;
  /** Default: no limits. `unitLimitsOfAws` has the limits of AWS. */
  limits?: UnitLimits;
}

export interface AwsDynamoDb {
  endpoint: string;
  units: Units;
  figures: Readonly<Figures>;
  /** Drops the calls in progress. A transaction among them may stay half written. */
  stop: () => Promise<void>;
}

/**
 * Starts a front for a DynamoDB engine. It adds behaviour of AWS that an engine on one machine lacks: transactions that take
 * time, during which reads see them item by item and other writes conflict; units per partition key; quotas.
 *
 * It does not simulate stale reads, indexes (the engine answers their queries, and they are not metered by key), streams, TTL,
 * PartiQL, partitions that split, adaptive capacity or the limits of a whole table. Only calls through the front are affected.
 */
export async function startAwsDynamoDb(engineEndpoint: string, options: AwsDynamoDbOptions = {}): Promise<AwsDynamoDb> {
  const front = openFront(engineEndpoint, options);
  const server = createServer((request, response) => {
    const send = (status: number, body: Json) => {
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0', 'x-amzn-requestid': randomUUID() });
      response.end(JSON.stringify(body));
    };
    answer(front, request).then(
      (body) => send(200, body),
      (error: unknown) => {
        if (error instanceof WireError) send(error.status, error.body);
        else send(500, { __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError', message: String(error) });
      },
    );
  });
  server.keepAliveTimeout = 0; // never: a client may send a request while its idle connection is being closed
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The front got no port.');
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    units: front.meter,
    figures: front.figures,
    stop: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function openFront(engineEndpoint: string, options: AwsDynamoDbOptions): Front {
  const engine = connectEngine(engineEndpoint);
  const clock = options.clock ?? systemTimerClock;
  const random = seededRandom(options.seed ?? 1);
  return {
    engine,
    clock,
    random,
    keySchemas: readKeySchemas(engine),
    locks: createItemLocks(),
    meter: createUnitMeter(clock, options.limits),
    tokens: createTransactionTokens(clock),
    rehearsal: createRehearsal(engine),
    reveals: createReveals(engine, clock, random),
    durations: {
      transaction: options.transactionInMilliseconds ?? 15,
      singleWrite: options.singleWriteInMilliseconds ?? 0,
      betweenReads: options.betweenReadsInMilliseconds ?? 0,
    },
    figures: {
      transactions: 0,
      conflicts: 0,
      conflictingItems: [],
      readsOfPartlyVisible: 0,
    },
  };
}

type Operation = (front: Front, request: never) => Promise<Json>;

const operations: Record<string, Operation> = {
  GetItem: async (front, request) => ({ ...(await getItem(front, request)) }),
  BatchGetItem: batchGetItem,
  Query: (front, request) => readPage(front, 'Query', request),
  Scan: (front, request) => readPage(front, 'Scan', request),
  PutItem: (front, request) => writeItem(front, 'PutItem', request),
  UpdateItem: (front, request) => writeItem(front, 'UpdateItem', request),
  DeleteItem: (front, request) => writeItem(front, 'DeleteItem', request),
  BatchWriteItem: batchWriteItem,
  TransactWriteItems: transactWriteItems,
  TransactGetItems: transactGetItems,
};

async function answer(front: Front, request: IncomingMessage): Promise<Json> {
  const name = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
  const body = await jsonOf(request);
  checkExpressions(body);
  const operation = operations[name];
  if (operation) return await operation(front, body as never);
  if (/Table$/.test(name)) front.keySchemas.forget();
  return await front.engine.forward(name, body);
}

async function jsonOf(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  checkRequestSize(body.length);
  return body.length === 0 ? {} : (JSON.parse(body.toString('utf8')) as Json);
}

export interface AwsTable {
  /** The table through the front. */
  table: Table;
  /** The same table directly on the engine. Its writes never conflict, and its reads see what reads through the front see. */
  direct: Table;
  front: AwsDynamoDb;
  stop: () => Promise<void>;
}

/** Starts an engine with a new table behind the front. `maxAttempts` is the SDK's: 1 shows each error. Default 3. */
export async function startAwsTable(options: AwsDynamoDbOptions & { maxAttempts?: number } = {}): Promise<AwsTable> {
  const embedded = await startEmbeddedTable({ bySdk: true });
  const front = await startAwsDynamoDb(embedded.endpoint, options);
  const document = documentAt(front.endpoint, { maxAttempts: options.maxAttempts ?? 3 });
  return {
    table: { ...embedded.table, document },
    direct: embedded.table,
    front,
    stop: async () => {
      document.destroy();
      await front.stop();
      await embedded.stop();
    },
  };
}

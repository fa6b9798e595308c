import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, BatchGetCommand, type QueryCommandInput, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { clientOptions, sharedClient } from '../runtime/clients.ts';
import { Deadline, type DeadlineSource, type Clock, systemClock } from '../runtime/deadline.ts';
import { environment } from '../runtime/environment.ts';
import { emitMetric } from '../runtime/log.ts';
import type { AnyKey } from './keys.ts';

/** The client of the table: the SDK's document client, or the client of an engine on one machine. */
export type TableClient = Pick<DynamoDBDocumentClient, 'send' | 'middlewareStack' | 'destroy'>;

/** The DynamoDB table of the service, with the client, deadline and clock to use for it. */
export interface Table {
  name: string;
  document: TableClient;
  /** Returns the deadline of an operation. Default: a new deadline of 5 seconds for each operation. */
  deadline?: DeadlineSource;
  clock?: Clock;
  /** Called before each retry of a transaction on the table that conflicts with another transaction. */
  onConflictRetry?: () => void;
}

/** Returns the deadline of an operation on the table: the deadline of the request, or a new one of 5 seconds. */
export function deadlineOf(table: Table): Deadline {
  return table.deadline?.() ?? new Deadline();
}

/** Returns the clock to use for operations on the table. Default: the system clock. */
export function clockOf({ clock = systemClock }: Table): Clock {
  return clock;
}

/** Returns the option of a call of the AWS SDK that aborts the call at the deadline. */
export function until(deadline: Deadline): { abortSignal: AbortSignal } {
  return { abortSignal: deadline.signal() };
}

class UnprocessedError extends Error {}

/**
 * Sends a batch of operations to DynamoDB, and sends again what DynamoDB leaves unprocessed, until the deadline.
 * @param send returns what is left unprocessed
 * @throws ServiceError `unavailable` if something is left at the deadline
 */
export async function processAll<T>(deadline: Deadline, batch: T[], send: (unprocessed: T[]) => Promise<T[]>): Promise<void> {
  let unprocessed = batch;
  const sendRest = async () => {
    unprocessed = await send(unprocessed);
    if (unprocessed.length > 0) throw new UnprocessedError('DynamoDB left items of a batch unprocessed.');
  };
  await deadline.retry(sendRest, (error) => error instanceof UnprocessedError);
}

/** Creates the client of the table that all requests of a process share. */
export const createTableClient = (): TableClient => documentClient(new DynamoDBClient(clientOptions()));

/** Opens the DynamoDB table that the environment variables of the process name. */
export function openTable(deadline: DeadlineSource): Table {
  return {
    name: environment().TABLE_NAME,
    document: sharedClient(createTableClient),
    deadline,
    onConflictRetry: () => emitMetric('ConflictsRetried', 1),
  };
}

/** Returns a document client that leaves out the entries of items that are undefined. */
export function documentClient(client: DynamoDBClient): DynamoDBDocumentClient {
  // Even without a logger, it copies all that is sent and received: a twentieth of the processor time of a call, more of a long query.
  client.middlewareStack.remove('loggerMiddleware');
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}

/** The names of the key attributes and of the expiry attribute. CDK and the one-machine stack create the table with them. */
export const tableDefinition = {
  partitionKey: 'pk',
  sortKey: 'sk',
  /**
   * The attribute with the time when an item expires, in seconds since the Unix epoch. DynamoDB deletes expired items within
   * days, so reads must check the time.
   */
  timeToLive: 'ttl',
} as const;

/** An item of the table: its attributes by name. */
export type Item = Record<string, unknown>;

/** Reads an item, strongly consistent. Costs one read unit per 4 KB. */
export function getItem(table: Table, key: AnyKey): Promise<Item | undefined> {
  return get(table, key, true);
}

/**
 * Reads an item as it is now or was a moment ago. Costs half a read unit per 4 KB. Use it only for polling: the next read may
 * even return an older state.
 */
export function getItemEventually(table: Table, key: AnyKey): Promise<Item | undefined> {
  return get(table, key, false);
}

async function get(table: Table, Key: AnyKey, ConsistentRead: boolean): Promise<Item | undefined> {
  const command = new GetCommand({ TableName: table.name, Key, ConsistentRead });
  const { Item: item } = await table.document.send(command, until(deadlineOf(table)));
  return item;
}

const keysPerBatch = 100;

/**
 * Reads the items with up to a few hundred keys, in their order, strongly consistent. Returns undefined for missing items. Keys
 * may occur more than once.
 */
export async function getItems(table: Table, keys: AnyKey[]): Promise<(Item | undefined)[]> {
  const deadline = deadlineOf(table);
  const found = new Map<string, Item>();
  const batches: AnyKey[][] = [];
  const distinct = [...new Map(keys.map((key) => [`${key.pk}\n${key.sk}`, key])).values()];
  for (let start = 0; start < distinct.length; start += keysPerBatch) batches.push(distinct.slice(start, start + keysPerBatch));
  await Promise.all(
    batches.map((batch) =>
      processAll(deadline, batch, async (unprocessed) => {
        const { Responses, UnprocessedKeys } = await table.document.send(
          new BatchGetCommand({ RequestItems: { [table.name]: { Keys: unprocessed, ConsistentRead: true } } }),
          until(deadline),
        );
        for (const item of Responses?.[table.name] ?? []) found.set(`${item['pk']}\n${item['sk']}`, item);
        return (UnprocessedKeys?.[table.name]?.Keys ?? []) as AnyKey[];
      }),
    ),
  );
  return keys.map((key) => found.get(`${key.pk}\n${key.sk}`));
}

/** Reads the item of each thing, as `getItems` does. */
export function getItemsOf<Thing>(table: Table, things: readonly Thing[], keyOf: (thing: Thing) => AnyKey) {
  return getItems(table, things.map(keyOf));
}

/** The options of a query of a partition: how many items, in which order, from where, and which attributes. */
export interface QueryOptions {
  limit?: number | undefined;
  newestFirst?: boolean;
  /** The key after which a query of a partition begins. Default: it begins with the first item. */
  after?: AnyKey | undefined;
  /** The names of the attributes that a query reads. They must not be reserved words of DynamoDB. Default: all attributes. */
  attributes?: string[];
}

/** Reads the items of a partition, sorted by sort key, strongly consistent. Takes one round trip per MB read. */
export function queryPartition(table: Table, pk: string, options?: QueryOptions): Promise<Item[]> {
  return query(table, { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': pk } }, options);
}

/**
 * Reads the items of a partition whose sort keys start with `prefix`, sorted by sort key, strongly consistent. Takes one round
 * trip per MB read.
 */
export function queryPrefix(table: Table, pk: string, prefix: string, options?: QueryOptions): Promise<Item[]> {
  const condition = {
    KeyConditionExpression: 'pk = :pk and begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': pk, ':prefix': prefix },
  };
  return query(table, condition, options);
}

/**
 * Reads the items of a partition from the key `first` to the key `last`, both included, sorted by sort key, strongly consistent.
 * Takes one round trip per MB read.
 */
export function queryBetween(table: Table, first: AnyKey, last: AnyKey, options?: QueryOptions): Promise<Item[]> {
  const condition = {
    KeyConditionExpression: 'pk = :pk and sk between :first and :last',
    ExpressionAttributeValues: { ':pk': first.pk, ':first': first.sk, ':last': last.sk },
  };
  return query(table, condition, options);
}

/** Reads all items of several partitions, such as the shards of what is waiting. */
export async function queryPartitions(table: Table, pks: readonly string[]): Promise<Item[]> {
  return (await Promise.all(pks.map((pk) => queryPartition(table, pk)))).flat();
}

/** Yields the items of a partition in pages, in the order of their sort keys. @param limit of a page: the most items that it has */
export async function* pagesOf(table: Table, pk: string, options?: Pick<QueryOptions, 'attributes'>, limit = 1_000) {
  for (let after: AnyKey | undefined; ;) {
    const items = await queryPartition(table, pk, { ...options, limit, after });
    yield items;
    const last = items.at(-1);
    if (!last || items.length < limit) return;
    after = { pk, sk: String(last['sk']) };
  }
}

type KeyCondition = Pick<QueryCommandInput, 'KeyConditionExpression' | 'ExpressionAttributeValues'>;

async function query(table: Table, condition: KeyCondition, options: QueryOptions = {}): Promise<Item[]> {
  const { limit = Infinity, newestFirst = false, after, attributes } = options;
  const items: Item[] = [];
  let start: QueryCommandInput['ExclusiveStartKey'] = after;
  do {
    const command = new QueryCommand({
      TableName: table.name,
      ConsistentRead: true,
      ScanIndexForward: !newestFirst,
      ExclusiveStartKey: start,
      ...condition,
      ...(limit === Infinity ? {} : { Limit: limit }),
      ...(attributes ? { ProjectionExpression: attributes.join(', ') } : {}),
    });
    const page = await table.document.send(command, until(deadlineOf(table)));
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  } while (start && items.length < limit);
  return items.slice(0, limit);
}

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, BatchGetCommand, type QueryCommandInput, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { clientOptions, sharedClient } from '../runtime/clients.ts';
import { Deadline, type DeadlineSource, type Clock, systemClock } from '../runtime/deadline.ts';
import { environment } from '../runtime/environment.ts';
import { emitMetric } from '../runtime/log.ts';
import type { AnyKey } from './keys.ts';

/** The SDK's document client, or that of an engine on one machine. */
export type TableClient = Pick<DynamoDBDocumentClient, 'send' | 'middlewareStack' | 'destroy'>;

export interface Table {
  name: string;
  document: TableClient;
  /** Default: a new deadline of 5 seconds for each operation. */
  deadline?: DeadlineSource;
  clock?: Clock;
  /** Called before each retry of a transaction in conflict. */
  onConflictRetry?: () => void;
}

export function deadlineOf(table: Table): Deadline {
  return table.deadline?.() ?? new Deadline();
}

export function clockOf({ clock = systemClock }: Table): Clock {
  return clock;
}

export function until(deadline: Deadline): { abortSignal: AbortSignal } {
  return { abortSignal: deadline.signal() };
}

class UnprocessedError extends Error {}

/** Sends again what DynamoDB leaves unprocessed, until the deadline. @param send returns what is left */
export async function processAll<T>(deadline: Deadline, batch: T[], send: (unprocessed: T[]) => Promise<T[]>): Promise<void> {
  let unprocessed = batch;
  const sendRest = async () => {
    unprocessed = await send(unprocessed);
    if (unprocessed.length > 0) throw new UnprocessedError('DynamoDB left items of a batch unprocessed.');
  };
  await deadline.retry(sendRest, (error) => error instanceof UnprocessedError);
}

/** The client of all requests of a process. */
export const createTableClient = (): TableClient => documentClient(new DynamoDBClient(clientOptions()));

export function openTable(deadline: DeadlineSource): Table {
  return {
    name: environment().TABLE_NAME,
    document: sharedClient(createTableClient),
    deadline,
    onConflictRetry: () => emitMetric('ConflictsRetried', 1),
  };
}

/** Entries of items that are undefined are left out. */
export function documentClient(client: DynamoDBClient): DynamoDBDocumentClient {
  // Even without a logger, it copies all that is sent and received: a twentieth of the processor time of a call, more of a long query.
  client.middlewareStack.remove('loggerMiddleware');
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}

/** For CDK and for the one-machine stack. */
export const tableDefinition = {
  partitionKey: 'pk',
  sortKey: 'sk',
  /** Seconds since the Unix epoch. DynamoDB deletes expired items within days, so reads must check the time. */
  timeToLive: 'ttl',
} as const;

export type Item = Record<string, unknown>;

/** Reads an item, strongly consistent. One read unit per 4 KB. */
export function getItem(table: Table, key: AnyKey): Promise<Item | undefined> {
  return get(table, key, true);
}

/**
 * As it is now, or was a moment ago. Half a read unit per 4 KB. Only for polling: the next read may even return an older state.
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
 * Of up to a few hundred keys, in their order, strongly consistent; undefined for missing items. Keys may occur more than once.
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

export interface QueryOptions {
  limit?: number | undefined;
  newestFirst?: boolean;
  /** Begins behind this key. Default: with the first item. */
  after?: AnyKey | undefined;
  /** Default: all. The names must not be reserved words of DynamoDB. */
  attributes?: string[];
}

/** Sorted by sort key, strongly consistent. One round trip per MB read. */
export function queryPartition(table: Table, pk: string, options?: QueryOptions): Promise<Item[]> {
  return query(table, { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': pk } }, options);
}

/** Like queryPartition, only for sort keys that start with `prefix`. */
export function queryPrefix(table: Table, pk: string, prefix: string, options?: QueryOptions): Promise<Item[]> {
  const condition = {
    KeyConditionExpression: 'pk = :pk and begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': pk, ':prefix': prefix },
  };
  return query(table, condition, options);
}

/** `first` and `last` are inclusive. */
export function queryBetween(table: Table, first: AnyKey, last: AnyKey, options?: QueryOptions): Promise<Item[]> {
  const condition = {
    KeyConditionExpression: 'pk = :pk and sk between :first and :last',
    ExpressionAttributeValues: { ':pk': first.pk, ':first': first.sk, ':last': last.sk },
  };
  return query(table, condition, options);
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

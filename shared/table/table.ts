import { ConditionalCheckFailedException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  UpdateCommand,
  type DynamoDBDocumentClient,
  type QueryCommandInput,
  type ScanCommandInput,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../clock.ts';
import { Deadline, type DeadlineSource } from '../deadline.ts';
import type { AnswerKeeper } from './commit-change.ts';
import type { Key, NotARow } from './keys.ts';

/** Access to the service's table. */
export interface Table {
  name: string;
  document: DynamoDBDocumentClient;
  /** Default: a new deadline of 5 seconds for each operation. */
  deadline?: DeadlineSource;
  /** Default: the system's clock. */
  clock?: Clock;
  /** Called before each retry of a transaction that conflicted with another one. */
  onConflictRetry?: () => void;
  /** Set while a request with an Idempotency-Key is served; see commitChange. */
  answerKeeper?: AnswerKeeper;
}

export type Item = Record<string, unknown>;

export function deadlineOf(table: Table): Deadline {
  return table.deadline?.() ?? new Deadline();
}

/** Returns the option of the SDK that aborts a call at the deadline. */
function until(deadline: Deadline): { abortSignal: AbortSignal } {
  return { abortSignal: deadline.signal() };
}

/** Writes an item and replaces an existing one. */
export async function putItem(table: Table, item: Item & Key & NotARow): Promise<void> {
  await table.document.send(new PutCommand({ TableName: table.name, Item: item }), until(deadlineOf(table)));
}

/** A condition of a single write, on attributes whose names are no reserved words of DynamoDB. */
export interface WriteCondition {
  ConditionExpression: string;
  ExpressionAttributeValues?: Record<string, unknown>;
}

/** Writes an item if the condition holds. @returns whether it does; an unknown outcome counts as a failure */
export function putItemIf(table: Table, item: Item & Key & NotARow, condition: WriteCondition): Promise<boolean> {
  return writeIf(table, (until) =>
    table.document.send(new PutCommand({ TableName: table.name, Item: item, ...condition }), until),
  );
}

/** Updates an item if the condition holds. @returns whether it does */
export function updateIf(
  table: Table,
  key: Key & NotARow,
  update: Update,
  { ConditionExpression, ExpressionAttributeValues }: WriteCondition,
): Promise<boolean> {
  const command = {
    TableName: table.name,
    Key: { pk: key.pk, sk: key.sk },
    ...update,
    ConditionExpression,
    ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ...ExpressionAttributeValues },
  };
  return writeIf(table, (until) => table.document.send(new UpdateCommand(command), until));
}

/** Deletes an item if the condition holds. @returns whether it does */
export function deleteItemIf(table: Table, key: Key & NotARow, condition: WriteCondition): Promise<boolean> {
  const command = { TableName: table.name, Key: { pk: key.pk, sk: key.sk }, ...condition };
  return writeIf(table, (until) => table.document.send(new DeleteCommand(command), until));
}

/** Removes attributes of an item, if the item exists. */
export async function removeAttributes(table: Table, key: Key & NotARow, attributes: string[]): Promise<void> {
  const command = {
    TableName: table.name,
    Key: { pk: key.pk, sk: key.sk },
    UpdateExpression: `REMOVE ${attributes.map((_, index) => `#a${index}`).join(', ')}`,
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeNames: Object.fromEntries(attributes.map((attribute, index) => [`#a${index}`, attribute])),
  };
  await writeIf(table, (until) => table.document.send(new UpdateCommand(command), until));
}

/** Retries while a transaction holds the item. */
async function writeIf(table: Table, send: (until: { abortSignal: AbortSignal }) => Promise<unknown>): Promise<boolean> {
  const deadline = deadlineOf(table);
  for (let attempt = 1; ; attempt++) {
    try {
      await send(until(deadline));
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false;
      if (!(error instanceof TransactionConflictException)) throw error;
      await deadline.pause(attempt, error);
    }
  }
}

/** Reads an item, strongly consistent. One read unit per 4 KB. */
export function getItem(table: Table, key: Key): Promise<Item | undefined> {
  return get(table, key, true);
}

/**
 * Reads an item as it is now, or as it was a moment ago. Half a read unit per 4 KB. Only for polling: the next read may even return
 * an older state.
 */
export function glanceAtItem(table: Table, key: Key): Promise<Item | undefined> {
  return get(table, key, false);
}

async function get(table: Table, Key: Key, ConsistentRead: boolean): Promise<Item | undefined> {
  const command = new GetCommand({ TableName: table.name, Key, ConsistentRead });
  const { Item: item } = await table.document.send(command, until(deadlineOf(table)));
  return item;
}

const keysPerBatch = 100;

/**
 * Reads the items of up to a few hundred keys, strongly consistent. Returns them in the order of the keys, with undefined for
 * missing items. Keys may occur more than once. Reads batches of 100 in parallel and retries unprocessed keys.
 */
export async function getItems(table: Table, keys: Key[]): Promise<(Item | undefined)[]> {
  const deadline = deadlineOf(table);
  const found = new Map<string, Item>();
  const batches: Key[][] = [];
  const distinct = [...new Map(keys.map((key) => [`${key.pk}\n${key.sk}`, key])).values()];
  for (let start = 0; start < distinct.length; start += keysPerBatch) batches.push(distinct.slice(start, start + keysPerBatch));
  await Promise.all(
    batches.map(async (batch) => {
      let unprocessed = batch;
      for (let attempt = 0; unprocessed.length > 0; attempt++) {
        if (attempt > 0) await deadline.pause(attempt, new Error('DynamoDB left items of a batch unprocessed.'));
        const { Responses, UnprocessedKeys } = await table.document.send(
          new BatchGetCommand({ RequestItems: { [table.name]: { Keys: unprocessed, ConsistentRead: true } } }),
          until(deadline),
        );
        for (const item of Responses?.[table.name] ?? []) found.set(`${item['pk']}\n${item['sk']}`, item);
        unprocessed = (UnprocessedKeys?.[table.name]?.Keys ?? []) as Key[];
      }
    }),
  );
  return keys.map((key) => found.get(`${key.pk}\n${key.sk}`));
}

export interface QueryOptions {
  /** Default: all items. */
  limit?: number | undefined;
  newestFirst?: boolean;
  /** Default: all attributes. The names must not be reserved words of DynamoDB. */
  attributes?: string[];
}

/** Reads all items of a partition, sorted by sort key. Strongly consistent. One round trip per MB read. */
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

/** Like queryPartition, only for sort keys from `first` to `last`, both inclusive. */
export function queryBetween(table: Table, first: Key, last: Key, options?: QueryOptions): Promise<Item[]> {
  const condition = {
    KeyConditionExpression: 'pk = :pk and sk between :first and :last',
    ExpressionAttributeValues: { ':pk': first.pk, ':first': first.sk, ':last': last.sk },
  };
  return query(table, condition, options);
}

type KeyCondition = Pick<QueryCommandInput, 'KeyConditionExpression' | 'ExpressionAttributeValues'>;

async function query(table: Table, condition: KeyCondition, options: QueryOptions = {}): Promise<Item[]> {
  const { limit = Infinity, newestFirst = false, attributes } = options;
  const deadline = deadlineOf(table);
  const items: Item[] = [];
  let start: QueryCommandInput['ExclusiveStartKey'];
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
    const page = await table.document.send(command, until(deadline));
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  } while (start && items.length < limit);
  return items.slice(0, limit);
}

export interface ScanOptions {
  /** The `next` of the previous page. Default: start with the first item. */
  after?: Key | undefined;
  /** The number of items to read, including items that the filter excludes. */
  limit: number;
  filter: Required<Pick<ScanCommandInput, 'FilterExpression' | 'ExpressionAttributeValues'>>;
  /** As in QueryOptions. */
  attributes: string[];
}

/**
 * Reads a page of the table's items, in no defined order. `next` is where the next page starts; undefined after the last item.
 * Items that are written behind the current position are not found. Strongly consistent, up to 1 MB in one round trip. Costs 1
 * read unit per 4 KB read, including items that the filter excludes, so about 262,000 per GB. Only migrations may use it.
 */
export async function scanPage(table: Table, options: ScanOptions): Promise<{ items: Item[]; next: Key | undefined }> {
  const { after, limit, filter, attributes } = options;
  const command = new ScanCommand({
    TableName: table.name,
    ConsistentRead: true,
    ExclusiveStartKey: after,
    Limit: limit,
    ProjectionExpression: attributes.join(', '),
    ...filter,
  });
  const { Items: items = [], LastEvaluatedKey: next } = await table.document.send(command, until(deadlineOf(table)));
  return { items, next: next as Key | undefined };
}

const writesPerBatch = 25;

/** Deletes items, 25 per round trip. Retries unprocessed keys until the deadline of their batch. */
export function deleteItems(table: Table, keys: (Key & NotARow)[]): Promise<void> {
  return writeBatches(
    table,
    keys.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } })),
  );
}

/** Writes items and replaces existing ones, 25 per round trip. Retries unprocessed items until the deadline of their batch. */
export function putItems(table: Table, items: (Item & Key & NotARow)[]): Promise<void> {
  return writeBatches(
    table,
    items.map((Item) => ({ PutRequest: { Item } })),
  );
}

type BatchWrite = { PutRequest: { Item: Item } } | { DeleteRequest: { Key: Key } };

async function writeBatches(table: Table, writes: BatchWrite[]): Promise<void> {
  for (let start = 0; start < writes.length; start += writesPerBatch) {
    const deadline = deadlineOf(table);
    let unprocessed = writes.slice(start, start + writesPerBatch);
    for (let attempt = 0; unprocessed.length > 0; attempt++) {
      if (attempt > 0) await deadline.pause(attempt, new Error('DynamoDB left items of a batch unprocessed.'));
      const command = new BatchWriteCommand({ RequestItems: { [table.name]: unprocessed } });
      const { UnprocessedItems } = await table.document.send(command, until(deadline));
      unprocessed = (UnprocessedItems?.[table.name] ?? []) as typeof unprocessed;
    }
  }
}

type Update = Pick<UpdateCommandInput, 'UpdateExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'>;

/**
 * Updates an item if it exists. Retries while a transaction holds the item, until the deadline. The SDK may send an update twice
 * if a response is lost, so its effect must not depend on how often it is made.
 * @returns the whole item after the update, or undefined if it does not exist
 * @throws ServiceError `unavailable` if transactions hold the item until the deadline
 */
export async function updateExisting(table: Table, key: Key & NotARow, update: Update): Promise<Item | undefined> {
  const deadline = deadlineOf(table);
  const command = new UpdateCommand({
    TableName: table.name,
    Key: key,
    ConditionExpression: 'attribute_exists(pk)',
    ReturnValues: 'ALL_NEW',
    ...update,
  });
  for (let attempt = 1; ; attempt++) {
    try {
      return (await table.document.send(command, until(deadline))).Attributes;
    } catch (error) {
      const name = error instanceof Error ? error.name : '';
      if (name === 'ConditionalCheckFailedException') return undefined;
      if (name !== 'TransactionConflictException') throw error;
      await deadline.pause(attempt, error);
    }
  }
}

/**
 * Increments a counter item. Counters are never part of a transaction, so this never conflicts.
 * @returns its new value; undefined if the item does not exist
 */
export async function incrementExisting(table: Table, key: Key & NotARow): Promise<number | undefined> {
  try {
    return await incrementBy(table, key, 'ADD last_number :one', { ConditionExpression: 'attribute_exists(pk)' });
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
}

/** Increments a counter item and returns its new value. An item that does not exist yet begins at `first`. */
export function incrementFrom(table: Table, key: Key & NotARow, first: number): Promise<number> {
  return incrementBy(table, key, 'SET last_number = if_not_exists(last_number, :first) + :one', {
    ExpressionAttributeValues: { ':first': first },
  });
}

async function incrementBy(
  table: Table,
  key: Key & NotARow,
  UpdateExpression: string,
  rest: { ConditionExpression?: string; ExpressionAttributeValues?: Record<string, number> },
): Promise<number> {
  const command = new UpdateCommand({
    TableName: table.name,
    Key: key,
    UpdateExpression,
    ...rest,
    ExpressionAttributeValues: { ...rest.ExpressionAttributeValues, ':one': 1 },
    ReturnValues: 'UPDATED_NEW',
  });
  const { Attributes } = await table.document.send(command, until(deadlineOf(table)));
  return Number(Attributes?.['last_number']);
}

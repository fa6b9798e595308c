import { randomUUID } from 'node:crypto';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
  type DynamoDBDocumentClient,
  type QueryCommandInput,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { ServiceError } from '../errors.ts';
import type { Key } from './keys.ts';

/** The one table, and what the caller wants to hear of its retries. */
export interface Table {
  name: string;
  document: DynamoDBDocumentClient;
  /** Called for each transaction that is tried again because another one was in its way. */
  onConflictRetry?: () => void;
}

export type Item = Record<string, unknown>;

type SdkAction = NonNullable<TransactWriteCommandInput['TransactItems']>[number];
type Without<T> = T extends object ? Omit<T, 'TableName'> : never;

/** One action of a transaction; `otherwise` is thrown when its condition does not hold. */
export interface Action {
  put?: Without<SdkAction['Put']>;
  update?: Without<SdkAction['Update']>;
  delete?: Without<SdkAction['Delete']>;
  check?: Without<SdkAction['ConditionCheck']>;
  otherwise?: Error;
}

/** A write was refused because what it read has changed since: read again and decide again. */
export class StaleReadError extends Error {
  override readonly name = 'StaleReadError';
}

/** The condition of an action that the caller gave no error of its own. */
export class ConditionFailedError extends Error {
  override readonly name = 'ConditionFailedError';
}

const attempts = 32;
const firstPauseInMilliseconds = 15;
const longestPauseInMilliseconds = 1000;

/** Full jitter: a random pause up to a bound that doubles with each attempt. */
export async function pause(attempt: number): Promise<void> {
  const bound = Math.min(longestPauseInMilliseconds, firstPauseInMilliseconds * 2 ** attempt);
  await new Promise((resolve) => setTimeout(resolve, Math.random() * bound));
}

const transientReasons = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);
const transientNames = new Set(['TransactionConflictException', 'TransactionInProgressException']);

/**
 * Writes all actions or none. Conflicts with other transactions are retried with jitter; a condition that does not hold
 * is never retried: it throws the action's `otherwise`, or ConditionFailedError.
 * @throws ServiceError `unavailable` when the conflicts do not end.
 */
export async function transact(table: Table, actions: Action[]): Promise<void> {
  const TransactItems = actions.map((action) => withTableName(table.name, action));
  let token = randomUUID();
  for (let attempt = 0; attempt < attempts; attempt++) {
    try {
      await table.document.send(new TransactWriteCommand({ TransactItems, ClientRequestToken: token }));
      return;
    } catch (error) {
      if (!isTransient(error, actions)) throw error;
      // What is still in progress keeps its token, or it would be written twice; what was cancelled was not written.
      if (error instanceof TransactionCanceledException) token = randomUUID();
      table.onConflictRetry?.();
      await pause(attempt);
    }
  }
  throw new ServiceError('unavailable', 'Too many changes at once. Try again in a moment.');
}

function withTableName(name: string, action: Action): SdkAction {
  if (action.put) return { Put: { TableName: name, ...action.put } };
  if (action.update) return { Update: { TableName: name, ...action.update } };
  if (action.delete) return { Delete: { TableName: name, ...action.delete } };
  if (action.check) return { ConditionCheck: { TableName: name, ...action.check } };
  throw new TypeError('An action puts, updates, deletes or checks.');
}

function isTransient(error: unknown, actions: Action[]): boolean {
  if (error instanceof TransactionCanceledException) {
    const codes = (error.CancellationReasons ?? []).map((reason) => reason.Code ?? 'None');
    const failed = codes.indexOf('ConditionalCheckFailed');
    if (failed >= 0)
      throw actions[failed]?.otherwise ?? new ConditionFailedError('A condition of the transaction does not hold.');
    return codes.every((code) => code === 'None' || transientReasons.has(code)) && codes.some((code) => code !== 'None');
  }
  return error instanceof Error && transientNames.has(error.name);
}

/**
 * Runs `decide` again, with fresh reads, for as long as it ends in a StaleReadError.
 * @throws ServiceError `unavailable` when others keep being faster.
 */
export async function withFreshReads<T>(decide: () => Promise<T>): Promise<T> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    try {
      return await decide();
    } catch (error) {
      if (!(error instanceof StaleReadError)) throw error;
      await pause(attempt);
    }
  }
  throw new ServiceError('unavailable', 'Too many changes at once. Try again in a moment.');
}

/** Writes one item, whatever was there. */
export async function putItem(table: Table, item: Item): Promise<void> {
  await table.document.send(new PutCommand({ TableName: table.name, Item: item }));
}

/** One item, strongly consistent: half to one read unit per 4 KB. */
export async function getItem(table: Table, key: Key): Promise<Item | undefined> {
  const { Item: item } = await table.document.send(new GetCommand({ TableName: table.name, Key: key, ConsistentRead: true }));
  return item;
}

const keysPerBatch = 100;

/**
 * The items of up to a few hundred keys, in the keys' order, undefined where there is none; a key may stand there twice. Strongly consistent. Batches of
 * 100 are read side by side; keys that DynamoDB left unprocessed are asked for again.
 */
export async function getItems(table: Table, keys: Key[]): Promise<(Item | undefined)[]> {
  const found = new Map<string, Item>();
  const batches: Key[][] = [];
  const distinct = [...new Map(keys.map((key) => [`${key.pk}\n${key.sk}`, key])).values()];
  for (let start = 0; start < distinct.length; start += keysPerBatch) batches.push(distinct.slice(start, start + keysPerBatch));
  await Promise.all(
    batches.map(async (batch) => {
      let open = batch;
      for (let attempt = 0; open.length > 0; attempt++) {
        if (attempt > 0) await pause(attempt);
        if (attempt === attempts) throw new ServiceError('unavailable', 'The storage is busy. Try again in a moment.');
        const { Responses, UnprocessedKeys } = await table.document.send(
          new BatchGetCommand({ RequestItems: { [table.name]: { Keys: open, ConsistentRead: true } } }),
        );
        for (const item of Responses?.[table.name] ?? []) found.set(`${item['pk']}\n${item['sk']}`, item);
        open = (UnprocessedKeys?.[table.name]?.Keys ?? []) as Key[];
      }
    }),
  );
  return keys.map((key) => found.get(`${key.pk}\n${key.sk}`));
}

type QueryInput = Omit<QueryCommandInput, 'TableName' | 'ConsistentRead'>;

/** All items of a query, strongly consistent, up to its `Limit` where it has one; one round trip per megabyte read. */
export async function queryItems(table: Table, query: QueryInput): Promise<Item[]> {
  const items: Item[] = [];
  let start: QueryCommandInput['ExclusiveStartKey'];
  do {
    const page = await table.document.send(
      new QueryCommand({ TableName: table.name, ConsistentRead: true, ...query, ExclusiveStartKey: start }),
    );
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  } while (start && (query.Limit === undefined || items.length < query.Limit));
  return query.Limit === undefined ? items : items.slice(0, query.Limit);
}

/** All items of a partition whose sort key begins with `prefix`. */
export function queryPrefix(
  table: Table,
  pk: string,
  prefix: string,
  options: { limit?: number; newestFirst?: boolean } = {},
): Promise<Item[]> {
  return queryItems(table, {
    KeyConditionExpression: 'pk = :pk and begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': pk, ':prefix': prefix },
    ScanIndexForward: !options.newestFirst,
    ...(options.limit === undefined ? {} : { Limit: options.limit }),
  });
}

/** Adds one to a counter item and returns its new value. Never part of a transaction, so it never conflicts. */
export async function increment(table: Table, key: Key): Promise<number> {
  const { Attributes } = await table.document.send(
    new UpdateCommand({
      TableName: table.name,
      Key: key,
      UpdateExpression: 'ADD last_number :one',
      ExpressionAttributeValues: { ':one': 1 },
      ReturnValues: 'UPDATED_NEW',
    }),
  );
  return Number(Attributes?.['last_number']);
}

import { setTimeout } from 'node:timers/promises';
import { ConditionalCheckFailedException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Key } from './keys.ts';

/**
 * A DynamoDB table that contains lists and perhaps other items, and how to access it. Its keys are `pk` and `sk`, both strings.
 */
export interface ListTable {
  /** The name of the DynamoDB table. */
  name: string;
  /**
   * The client of the table: a `DynamoDBDocumentClient` of the AWS SDK, or an object that sends commands in another way. What
   * this process remembers of a list belongs to this object.
   */
  document: Pick<DynamoDBDocumentClient, 'send'>;
  /** Returns the time limit of an operation that begins now, or of the request that the operation is a part of. */
  deadline: () => ListDeadline;
  clock: ListClock;
  /** Makes one read for all requests that want the same (`what`) at the same time. Default: each request reads for itself. */
  share?: (<T>(what: string, read: () => Promise<T>) => Promise<T>) | undefined;
}

/** A time limit of operations, and a function that repeats failed attempts until then. */
export interface ListDeadline {
  /** Returns a signal that is aborted at the time limit. */
  signal: () => AbortSignal;
  /**
   * Calls `attempt`, and calls it again, after a pause, while it throws errors that `mayPass` accepts.
   * @param mayPass gets the error and the number of attempts so far, from 1
   * @throws an error that may not pass; any error if the time limit comes before another attempt
   */
  retry: <T>(attempt: () => Promise<T>, mayPass: (error: unknown, count: number) => boolean) => Promise<T>;
}

/** The clock by which a process measures times and waits. */
export interface ListClock {
  /** Returns the milliseconds since the Unix epoch. */
  now: () => number;
  wait: (milliseconds: number) => Promise<unknown>;
  /** Returns the milliseconds since any fixed moment. They never go back. Default: `now`. */
  steady?: () => number;
}

/**
 * The longest pause between two attempts of an operation, in milliseconds. Pauses are random, and their upper bound doubles from
 * 30 up to this value.
 */
const longestPauseInMilliseconds = 1_000;

/**
 * Returns a DynamoDB table for lists, with the clock of the system.
 * @param milliseconds the time limit of each operation. Default: 5,000
 */
export function openListTable(name: string, document: ListTable['document'], milliseconds = 5_000): ListTable {
  const steady = () => performance.now();
  const deadline = (): ListDeadline => {
    const [signal, end] = [AbortSignal.timeout(milliseconds), steady() + milliseconds];
    const retry: ListDeadline['retry'] = async (attempt, mayPass) => {
      for (let count = 1; ; count++) {
        try {
          return await attempt();
        } catch (error) {
          const pause = Math.random() * Math.min(longestPauseInMilliseconds, 30 * 2 ** (count - 1));
          if (!mayPass(error, count) || steady() + pause >= end) throw error;
          await setTimeout(pause);
        }
      }
    };
    return { signal: () => signal, retry };
  };
  return { name, document, deadline, clock: { now: Date.now, wait: setTimeout, steady } };
}

export const steadyTime = ({ clock }: ListTable): number => clock.steady?.() ?? clock.now();

export function rememberedByTable<T>(): (table: ListTable) => Map<string, T> {
  const ofClients = new WeakMap<object, Map<string, Map<string, T>>>();
  return ({ name, document }) => {
    const ofClient = ofClients.get(document) ?? new Map<string, Map<string, T>>();
    const ofTable = ofClient.get(name) ?? new Map<string, T>();
    ofClients.set(document, ofClient.set(name, ofTable));
    return ofTable;
  };
}

export type Item = Record<string, unknown>;

const until = (deadline: ListDeadline) => ({ abortSignal: deadline.signal() });

/** Reads an item of the table, strongly consistent. Undefined if there is none. */
export async function getItem(table: ListTable, Key: Key): Promise<Item | undefined> {
  const command = new GetCommand({ TableName: table.name, Key, ConsistentRead: true });
  return (await table.document.send(command, until(table.deadline()))).Item;
}

const keysPerBatch = 100;

/**
 * Reads items of the table, strongly consistent, and returns them in the order of the given keys, with undefined for those that
 * do not exist.
 */
export async function getItems(table: ListTable, keys: readonly Key[]): Promise<(Item | undefined)[]> {
  const found = new Map<string, Item>();
  await inBatches(table, keys, keysPerBatch, async (unprocessed, options) => {
    const RequestItems = { [table.name]: { Keys: unprocessed, ConsistentRead: true } };
    const { Responses, UnprocessedKeys } = await table.document.send(new BatchGetCommand({ RequestItems }), options);
    for (const item of Responses?.[table.name] ?? []) found.set(`${item['pk']} ${item['sk']}`, item);
    return (UnprocessedKeys?.[table.name]?.Keys ?? []) as Key[];
  });
  return keys.map(({ pk, sk }) => found.get(`${pk} ${sk}`));
}

/**
 * Reads the items of a partition whose sort keys begin with a prefix, strongly consistent.
 * @param most the most items to read, from the last key on. Default: all, from the first key on
 */
export async function queryPrefix(table: ListTable, pk: string, prefix: string, most = Infinity): Promise<Item[]> {
  const items: Item[] = [];
  let start: Item | undefined;
  do {
    const command = new QueryCommand({
      TableName: table.name,
      ConsistentRead: true,
      KeyConditionExpression: prefix === '' ? 'pk = :pk' : 'pk = :pk and begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': pk, ...(prefix !== '' && { ':prefix': prefix }) },
      ScanIndexForward: most === Infinity,
      ExclusiveStartKey: start,
      ...(most < Infinity && { Limit: most }),
    });
    const page = await table.document.send(command, until(table.deadline()));
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  } while (start && items.length < most);
  return items;
}

const writesPerBatch = 25;

export async function putItems(table: ListTable, items: readonly (Item & Key)[]): Promise<void> {
  const puts = items.map((Item) => ({ PutRequest: { Item } }));
  await writeAll(table, puts);
}

export async function deleteItems(table: ListTable, keys: readonly Key[]): Promise<void> {
  const deletes = keys.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } }));
  await writeAll(table, deletes);
}

type BatchWrite = { PutRequest: { Item: Item } } | { DeleteRequest: { Key: Key } };

async function writeAll(table: ListTable, writes: readonly BatchWrite[]): Promise<void> {
  await inBatches(table, writes, writesPerBatch, async (unprocessed, options) => {
    const command = new BatchWriteCommand({ RequestItems: { [table.name]: unprocessed } });
    const { UnprocessedItems } = await table.document.send(command, options);
    return (UnprocessedItems?.[table.name] ?? []) as BatchWrite[];
  });
}

class UnprocessedError extends Error {}

const batchesAtOnce = 8;

/**
 * Sends entries in batches, and sends again what DynamoDB leaves unprocessed, until the time limit.
 * @param send sends a batch and returns the entries that were not processed
 */
async function inBatches<T>(
  table: ListTable,
  entries: readonly T[],
  size: number,
  send: (unprocessed: T[], options: { abortSignal: AbortSignal }) => Promise<T[]>,
): Promise<void> {
  const batches: T[][] = [];
  for (let start = 0; start < entries.length; start += size) batches.push(entries.slice(start, start + size));
  await inParallel(batches, batchesAtOnce, async (batch) => {
    const deadline = table.deadline();
    let unprocessed = batch;
    const sendRest = async () => {
      unprocessed = await send(unprocessed, until(deadline));
      if (unprocessed.length > 0) throw new UnprocessedError('DynamoDB left items of a batch unprocessed.');
    };
    await deadline.retry(sendRest, (error) => error instanceof UnprocessedError);
  });
}

/**
 * Calls `work` for each entry, for several entries at the same time.
 * @throws the error of the first worker that failed, after all have ended
 */
export async function inParallel<T>(entries: readonly T[], atOnce: number, work: (entry: T) => Promise<void>): Promise<void> {
  const waiting = entries.values();
  const worker = async () => {
    for (const entry of waiting) await work(entry);
  };
  const ends = await Promise.allSettled(Array.from({ length: Math.min(atOnce, entries.length) }, worker));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/**
 * Returns a function that collects the questions asked in one turn of the event loop and answers all of them with one call of
 * `answerAll`. If this call fails, every question of the turn fails.
 * @param answerAll returns the answers in the order of the questions
 */
export function batched<Question, Answer>(
  answerAll: (questions: Question[]) => Promise<Answer[]>,
): (question: Question) => Promise<Answer> {
  let questions: Question[] = [];
  let answers: Promise<Answer[]> | undefined;
  const ask = async () => {
    await new Promise(setImmediate);
    const asked = questions;
    questions = [];
    answers = undefined;
    return await answerAll(asked);
  };
  return async (question) => {
    const index = questions.push(question) - 1;
    answers ??= ask();
    return (await answers)[index] as Answer;
  };
}

/** An action of a DynamoDB transaction, as the `TransactWriteCommand` of the AWS SDK takes it. */
export type TransactAction = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/**
 * Sends a DynamoDB transaction, which writes all of its actions or none.
 * @throws errors of the SDK, such as TransactionCanceledException
 */
export async function writeTransaction(table: ListTable, TransactItems: TransactAction[]): Promise<void> {
  await table.document.send(new TransactWriteCommand({ TransactItems }), until(table.deadline()));
}

export interface Condition {
  ConditionExpression: string;
  ExpressionAttributeValues?: Record<string, unknown>;
}

export const isAbsent: Condition = { ConditionExpression: 'attribute_not_exists(pk)' };

/**
 * Returns the condition that an attribute of the item has a value.
 * @param attribute a name that is not a reserved word of DynamoDB
 */
export function has(attribute: string, value: number): Condition {
  return { ConditionExpression: `${attribute} = :value`, ExpressionAttributeValues: { ':value': value } };
}

export const putItemIf = (table: ListTable, Item: Item & Key, condition: Condition): Promise<boolean> =>
  attempt(table, (options) => table.document.send(new PutCommand({ TableName: table.name, Item, ...condition }), options));

export function deleteItemIf(table: ListTable, { pk, sk }: Key, condition: Condition): Promise<boolean> {
  const command = new DeleteCommand({ TableName: table.name, Key: { pk, sk }, ...condition });
  return attempt(table, (options) => table.document.send(command, options));
}

/** The most attributes that one update removes, because an expression of DynamoDB has at most 4 KB. */
const attributesPerUpdate = 400;

export async function removeAttributes(table: ListTable, { pk, sk }: Key, attributes: readonly string[]): Promise<void> {
  for (let start = 0; start < attributes.length; start += attributesPerUpdate) {
    const part = attributes.slice(start, start + attributesPerUpdate);
    const command = new UpdateCommand({
      TableName: table.name,
      Key: { pk, sk },
      UpdateExpression: `REMOVE ${part.map((_, index) => `#a${index}`).join(', ')}`,
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeNames: Object.fromEntries(part.map((attribute, index) => [`#a${index}`, attribute])),
    });
    await attempt(table, (options) => table.document.send(command, options));
  }
}

/**
 * Sends a conditional write, and sends it again while a transaction holds the item.
 * @returns whether the condition held, so that the item was written
 */
async function attempt(table: ListTable, send: (options: { abortSignal: AbortSignal }) => Promise<unknown>): Promise<boolean> {
  const deadline = table.deadline();
  try {
    const isPassing = (error: unknown) => error instanceof TransactionConflictException;
    await deadline.retry(() => send(until(deadline)), isPassing);
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

export const storedBytes = v.custom<Uint8Array>((input) => input instanceof Uint8Array, 'Expected bytes.');

/**
 * Returns a stored item, checked against a schema.
 * @throws Error that names the attribute if the item does not fit; an internal error
 */
export function parseItem<Schema extends v.GenericSchema>(schema: Schema, item: unknown, what: string): v.InferOutput<Schema> {
  const result = v.safeParse(schema, item);
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw new Error(`A stored ${what} of a list does not fit: ${v.getDotPath(issue) ?? 'item'}: ${issue.message}`);
}

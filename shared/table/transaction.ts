import { randomUUID } from 'node:crypto';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand, type TransactWriteCommandInput, TransactGetCommand } from '@aws-sdk/lib-dynamodb';
import type { Key, AnyKey } from './keys.ts';
import { deadlineOf, type Table, type Item } from './table.ts';
import type { WriteCondition } from './writes.ts';

/** The error of a transaction in which a condition does not hold and whose action names no other error (`otherwise`). */
export class ConditionFailedError extends Error {
  override readonly name = 'ConditionFailedError';
}

/** The most actions that DynamoDB takes in one transaction. */
const actionsPerTransaction = 100;
const bytesPerTransaction = 4 * 1024 * 1024;

/** A group of writes of which DynamoDB makes all or none. It has at most 100 actions, one for each item, and 4 MB. */
export class Transaction {
  private readonly actions: Action[] = [];
  private readonly places = new Set<string>();
  private bytes = 0;
  private readonly checks: ((table: Table) => void)[] = [];
  private readonly whenDone: ((table: Table) => Promise<void>)[] = [];

  /** The number of actions that still fit into the transaction. */
  get actionsLeft(): number {
    return actionsPerTransaction - this.actions.length;
  }

  /**
   * Adds writes and checks of items to the transaction.
   * @throws TypeError if a limit of DynamoDB is exceeded or an item has a second action
   */
  add(...actions: Action[]): void {
    for (const action of actions) {
      const { pk, sk } = keyOf(action);
      const place = `${pk}\n${sk}`;
      if (this.places.has(place)) throw new TypeError(`A transaction has a second action on ${pk} ${sk}.`);
      this.places.add(place);
      this.actions.push(action);
      this.bytes += sizeInBytes(action);
    }
    if (this.actionsLeft < 0) throw new TypeError(`A transaction has more than ${actionsPerTransaction} actions.`);
    if (this.bytes > bytesPerTransaction) throw new TypeError(`A transaction has more than ${bytesPerTransaction} bytes.`);
  }

  /** Adds a check that `commit` calls before it writes. If the check throws, nothing is written. */
  beforehand(check: (table: Table) => void): void {
    this.checks.push(check);
  }

  /** Adds work that `commit` does after the transaction is written, before it returns. The work must not throw. */
  afterwards(work: (table: Table) => Promise<void>): void {
    this.whenDone.push(work);
  }

  get isEmpty(): boolean {
    return this.actions.length === 0;
  }

  /** Adds an action whose error (`otherwise`) is thrown even if the conditions of other actions do not hold either. */
  addFirst(action: Action): void {
    this.add(action);
    this.actions.unshift(...this.actions.splice(-1));
  }

  /**
   * Writes the transaction. Retries conflicts with other transactions until the table's deadline. Does not retry if a condition
   * does not hold: throws the error of its action (`otherwise`), by default ConditionFailedError.
   * @throws ServiceError `unavailable` if conflicts continue until the deadline; what a check of `beforehand` throws
   */
  async commit(table: Table): Promise<void> {
    for (const check of this.checks) check(table);
    const TransactItems = this.actions.map((action) => withTableName(table.name, action));
    const deadline = deadlineOf(table);
    let token = randomUUID();
    const write = () => {
      const command = new TransactWriteCommand({ TransactItems, ClientRequestToken: token });
      return table.document.send(command, { abortSignal: deadline.signal() });
    };
    const mayPass = (error: unknown) => {
      if (!isTransient(error)) return false;
      // A transaction in progress keeps its token, so that it is not written twice. A cancelled one was not written.
      if (error instanceof TransactionCanceledException) token = randomUUID();
      table.onConflictRetry?.();
      return true;
    };
    try {
      await deadline.retry(write, mayPass);
    } catch (error) {
      throw failedCondition(error, this.actions) ?? error;
    }
    for (const work of this.whenDone) await work(table);
  }
}

/** Writes the actions in one transaction. Throws as `Transaction.commit` does. */
export async function transact(table: Table, actions: Action[]): Promise<void> {
  const transaction = new Transaction();
  transaction.add(...actions);
  await transaction.commit(table);
}

/** Waits for the commit of a transaction whose actions name no other error (`otherwise`). @returns whether its conditions hold */
export async function isDone(commit: Promise<void>): Promise<boolean> {
  try {
    await commit;
    return true;
  } catch (error) {
    if (error instanceof ConditionFailedError) return false;
    throw error;
  }
}

function keyOf({ put, update, delete: remove, check }: Action): Key {
  const key = put?.Item ?? update?.Key ?? remove?.Key ?? check?.Key;
  if (!key) throw new TypeError('An action needs one of put, update, delete and check.');
  return key;
}

/**
 * Returns an upper bound of an action's size in bytes: the size of its JSON, which is at least as large as DynamoDB's own format.
 */
function sizeInBytes({ put, update }: Action): number {
  return Buffer.byteLength(JSON.stringify(put?.Item ?? update?.ExpressionAttributeValues ?? {}, countable));
}

/**
 * Replaces bytes by a text of the same length, and sets by lists, when JSON.stringify measures an item of a transaction. It looks
 * at the value itself, because a Buffer has become a list of numbers by then.
 */
function countable(this: unknown, name: string, value: unknown): unknown {
  const given = (this as Record<string, unknown>)[name];
  if (given instanceof Uint8Array) return 'x'.repeat(given.length);
  return given instanceof Set ? [...(given as Set<unknown>)] : value;
}

type SdkAction = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

function withTableName(TableName: string, { put, update, delete: remove, check }: Action): SdkAction {
  if (put) return { Put: { TableName, ...put } };
  if (update) return { Update: { TableName, ...update } };
  if (remove) return { Delete: { TableName, ...remove } };
  return { ConditionCheck: check && { TableName, ...check } };
}

const transientNames = new Set(['TransactionConflictException', 'TransactionInProgressException']);

/**
 * Returns the error of the first action of a transaction whose condition does not hold, or undefined if the failure has another
 * cause.
 */
function failedCondition(error: unknown, actions: Action[]): Error | undefined {
  const failed = cancellationReasons(error).indexOf('ConditionalCheckFailed');
  if (failed < 0) return undefined;
  const { otherwise = new ConditionFailedError('A condition of the transaction does not hold.') } = actions[failed] ?? {};
  return otherwise instanceof Error ? otherwise : new otherwise();
}

function isTransient(error: unknown): boolean {
  return isCancelledForNow(error) || (error instanceof Error && transientNames.has(error.name));
}

interface AtKey extends Partial<WriteCondition> {
  Key: Key;
}

/** A write or a check of one item in a transaction. Has exactly one of put, update, delete and check. */
export interface Action {
  put?: Partial<WriteCondition> & { Item: Record<string, unknown> & Key };
  update?: AtKey & { UpdateExpression: string };
  delete?: AtKey;
  check?: AtKey & { ConditionExpression: string };
  /**
   * The error that the transaction throws if the condition of the action does not hold, or its class, of which it makes one only then.
   * Default: ConditionFailedError.
   */
  otherwise?: Error | (new () => Error);
}

/** Stores the answer to a request with an Idempotency-Key, so that repeats of the request get the same answer. */
export interface AnswerKeeper {
  /**
   * Returns the action of a transaction that stores the answer to a request for repeats. The transaction fails with
   * AnswerKeptError if an answer is stored already.
   */
  keep: (result: object) => Action;
  /**
   * Refuses the repeat of a request whose answer is stored already. Call it before work outside the transaction, or in several
   * transactions: there the transaction with the answer would refuse the repeat too late.
   * @throws AnswerKeptError if an answer is stored already
   */
  refuseRepeat: () => Promise<void>;
}

/** The part of a request to an operation that each change has: its domain, and by what its answer is stored for repeats. */
export interface AnsweredRequest {
  domain: string;
  /**
   * Stores the answer to a request with an Idempotency-Key, for repeats. Pass it to `commitChange`. Undefined if the request has
   * no Idempotency-Key.
   */
  answerKeeper?: AnswerKeeper | undefined;
}

/** The part of a request to an operation that each change of a user has. */
export interface UserRequest extends AnsweredRequest {
  /** The caller. */
  by: string;
  /** The time of the request: RFC 3339, UTC, milliseconds. */
  now: string;
}

/**
 * The error of a change whose request has a stored answer already: the request is a repeat, and its change must not be made
 * again.
 */
export class AnswerKeptError extends Error {
  override readonly name = 'AnswerKeptError';
}

declare const committed: unique symbol;

/**
 * The result of a change that was committed with `commitChange`. Other code cannot make one, so a handler that forgets the commit
 * does not compile.
 */
export type Committed<T extends object> = T & { readonly [committed]: true };

/**
 * Commits the change of a request together with the answer made of its result. Each request calls this exactly once, also if it
 * changes nothing; its other transactions call `commit`.
 * @throws AnswerKeptError if the request has been answered before; other errors as Transaction.commit
 */
export async function commitChange<T extends object>(
  table: Table,
  transaction: Transaction,
  result: T,
  answerKeeper: AnswerKeeper | undefined,
): Promise<Committed<T>> {
  if (answerKeeper) transaction.addFirst(answerKeeper.keep(result));
  if (!transaction.isEmpty) await transaction.commit(table);
  return result as Committed<T>;
}

/**
 * The error of a write if what it is based on was changed since it was read. `withFreshReads` then repeats the read and the
 * write.
 */
export class StaleReadError extends Error {
  override readonly name: string = 'StaleReadError';
}

/**
 * Calls `decide`, which reads items and writes a change of them, and calls it again after each StaleReadError.
 * @param decide reads, decides and writes; must use the table passed to it, which has the deadline of all attempts
 * @throws ServiceError `unavailable` if StaleReadErrors continue until the deadline
 */
export async function withFreshReads<T>(table: Table, decide: (table: Table) => Promise<T>): Promise<T> {
  const deadline = deadlineOf(table);
  const shared = { ...table, deadline: () => deadline };
  return await deadline.retry(
    () => decide(shared),
    (error) => error instanceof StaleReadError,
  );
}

/**
 * Makes the change of a request: commits what `decide` adds to a transaction, together with the answer made of its result. Calls `decide`
 * again after each StaleReadError. See `commitChange`.
 * @param decide reads, decides and adds to the transaction, with the table passed to it
 */
export async function makeChange<T extends object>(
  table: Table,
  answerKeeper: AnswerKeeper | undefined,
  decide: (table: Table, transaction: Transaction) => Promise<T>,
): Promise<Committed<T>> {
  return await withFreshReads(table, async (table) => {
    const transaction = new Transaction();
    return await commitChange(table, transaction, await decide(table, transaction), answerKeeper);
  });
}

/** Commits what `decide` adds to a transaction, if anything, as `makeChange` does, for work that is not the change of a request. */
export async function writeFresh<T>(table: Table, decide: (table: Table, transaction: Transaction) => Promise<T>): Promise<T> {
  return await withFreshReads(table, async (table) => {
    const transaction = new Transaction();
    const result = await decide(table, transaction);
    if (!transaction.isEmpty) await transaction.commit(table);
    return result;
  });
}

const transientReasons = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);

/** Returns why DynamoDB cancelled a transaction: one reason for each action. Returns an empty list for any other error. */
function cancellationReasons(error: unknown): string[] {
  if (!(error instanceof TransactionCanceledException)) return [];
  return (error.CancellationReasons ?? []).map((reason) => reason.Code ?? 'None');
}

/** Returns whether only other transactions or throttling cancelled a transaction, so that a retry may succeed. */
function isCancelledForNow(error: unknown): boolean {
  const reasons = cancellationReasons(error).filter((reason) => reason !== 'None');
  return reasons.length > 0 && reasons.every((reason) => transientReasons.has(reason));
}

/**
 * Reads up to 100 items, in the order of their keys, at one moment when no transaction is writing them. Costs two read units per
 * 4 KB of each item. A change that asserts a row's version and depends on other items must read the row with this function first:
 * then later reads see everything that was written together with this version.
 * @throws ServiceError `unavailable` if transactions hold the items until the deadline
 */
export async function readSettled(table: Table, keys: AnyKey[]): Promise<(Item | undefined)[]> {
  const deadline = deadlineOf(table);
  const TransactItems = keys.map(({ pk, sk }) => ({ Get: { TableName: table.name, Key: { pk, sk } } }));
  return await deadline.retry(async () => {
    const command = new TransactGetCommand({ TransactItems });
    const { Responses = [] } = await table.document.send(command, { abortSignal: deadline.signal() });
    return keys.map((_key, index) => Responses[index]?.Item);
  }, isCancelledForNow);
}

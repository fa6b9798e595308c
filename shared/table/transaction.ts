import { randomUUID } from 'node:crypto';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { Key, NotARow } from './keys.ts';
import { deadlineOf, type Item, type Table } from './table.ts';

interface Condition {
  ConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, unknown>;
}

interface AtKey extends Condition {
  Key: Key & NotARow;
}

/** One action of a transaction: exactly one of put, update, delete and check. */
export interface Action {
  put?: Condition & { Item: Item & Key & NotARow };
  update?: AtKey & { UpdateExpression: string };
  delete?: AtKey;
  check?: AtKey & { ConditionExpression: string };
  /** Thrown if the condition does not hold. Default: ConditionFailedError. */
  otherwise?: Error;
}

/** A write was refused because what it read has changed since: read again and decide again. */
export class StaleReadError extends Error {
  override readonly name: string = 'StaleReadError';
}

/** The condition of an action without an `otherwise` of its own does not hold. */
export class ConditionFailedError extends Error {
  override readonly name = 'ConditionFailedError';
}

/** DynamoDB's limits of one transaction. */
const actionsPerTransaction = 100;
const bytesPerTransaction = 4 * 1024 * 1024;

/** Collects the actions of one transaction, and knows what DynamoDB takes: 100 actions, 4 MB, each item once. */
export class Transaction {
  private readonly actions: Action[] = [];
  private readonly places = new Set<string>();
  private bytes = 0;

  /** How many more actions fit. */
  get actionsLeft(): number {
    return actionsPerTransaction - this.actions.length;
  }

  /** @throws TypeError beyond the limits, or for a second action on the same item: the caller has to divide its work */
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

  /**
   * Writes all actions or none. Conflicts with other transactions are retried until the table's deadline. A condition that
   * does not hold is never retried: it throws the action's `otherwise`, or ConditionFailedError.
   * @throws ServiceError `unavailable` if conflicts last until the deadline
   */
  async commit(table: Table): Promise<void> {
    const TransactItems = this.actions.map((action) => withTableName(table.name, action));
    const deadline = deadlineOf(table);
    let token = randomUUID();
    for (let attempt = 1; ; attempt++) {
      try {
        const command = new TransactWriteCommand({ TransactItems, ClientRequestToken: token });
        await table.document.send(command, { abortSignal: deadline.signal() });
        return;
      } catch (error) {
        if (!isTransient(error, this.actions)) throw error;
        // What is still in progress keeps its token, or it would be written twice; what was cancelled was not written.
        if (error instanceof TransactionCanceledException) token = randomUUID();
        table.onConflictRetry?.();
        await deadline.pause(attempt);
      }
    }
  }
}

/** Writes the actions in one transaction; see Transaction. */
export async function transact(table: Table, actions: Action[]): Promise<void> {
  const transaction = new Transaction();
  transaction.add(...actions);
  await transaction.commit(table);
}

function keyOf({ put, update, delete: remove, check }: Action): Key {
  const key = put?.Item ?? update?.Key ?? remove?.Key ?? check?.Key;
  if (!key) throw new TypeError('An action puts, updates, deletes or checks.');
  return key;
}

/** What an action adds to the 4 MB, from its JSON: DynamoDB's own form of numbers and names is not larger. */
function sizeInBytes({ put, update }: Action): number {
  return Buffer.byteLength(JSON.stringify(put?.Item ?? update?.ExpressionAttributeValues ?? {}, countable));
}

function countable(_name: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return 'x'.repeat(value.length);
  return value instanceof Set ? [...(value as Set<unknown>)] : value;
}

type SdkAction = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

function withTableName(TableName: string, { put, update, delete: remove, check }: Action): SdkAction {
  if (put) return { Put: { TableName, ...put } };
  if (update) return { Update: { TableName, ...update } };
  if (remove) return { Delete: { TableName, ...remove } };
  return { ConditionCheck: check && { TableName, ...check } };
}

const transientReasons = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);
const transientNames = new Set(['TransactionConflictException', 'TransactionInProgressException']);

/** Whether a repeat may succeed. @throws the error of the first action whose condition does not hold */
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
 * Runs `decide` again, with fresh reads, while it ends in a StaleReadError. All attempts share one deadline.
 * @param decide must use the table that it is given, which has that deadline
 * @throws ServiceError `unavailable` if other changes come first until the deadline
 */
export async function withFreshReads<T>(table: Table, decide: (table: Table) => Promise<T>): Promise<T> {
  const deadline = deadlineOf(table);
  const shared = { ...table, deadline: () => deadline };
  for (let attempt = 1; ; attempt++) {
    try {
      return await decide(shared);
    } catch (error) {
      if (!(error instanceof StaleReadError)) throw error;
      await deadline.pause(attempt);
    }
  }
}

import { randomUUID } from 'node:crypto';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactWriteCommand, type TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { deadlineOf, type Table } from './table.ts';

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

const transientReasons = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);
const transientNames = new Set(['TransactionConflictException', 'TransactionInProgressException']);

/**
 * Writes all actions or none. Conflicts with other transactions are retried until the table's deadline. A condition that
 * does not hold is never retried: it throws the action's `otherwise`, or ConditionFailedError.
 * @throws ServiceError `unavailable` if conflicts last until the deadline
 */
export async function transact(table: Table, actions: Action[]): Promise<void> {
  const TransactItems = actions.map((action) => withTableName(table.name, action));
  const deadline = deadlineOf(table);
  let token = randomUUID();
  for (let attempt = 1; ; attempt++) {
    try {
      const command = new TransactWriteCommand({ TransactItems, ClientRequestToken: token });
      await table.document.send(command, { abortSignal: deadline.signal() });
      return;
    } catch (error) {
      if (!isTransient(error, actions)) throw error;
      // What is still in progress keeps its token, or it would be written twice; what was cancelled was not written.
      if (error instanceof TransactionCanceledException) token = randomUUID();
      table.onConflictRetry?.();
      await deadline.pause(attempt);
    }
  }
}

function withTableName(name: string, action: Action): SdkAction {
  if (action.put) return { Put: { TableName: name, ...action.put } };
  if (action.update) return { Update: { TableName: name, ...action.update } };
  if (action.delete) return { Delete: { TableName: name, ...action.delete } };
  if (action.check) return { ConditionCheck: { TableName: name, ...action.check } };
  throw new TypeError('An action puts, updates, deletes or checks.');
}

/** Whether a repeat may succeed. @throws the error of the first action whose condition failed */
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

import { deadlineOf, type Table, type Item } from './table.ts';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { TransactGetCommand } from '@aws-sdk/lib-dynamodb';
import type { AnyKey } from './keys.ts';

/** withFreshReads repeats the read and the write. */
export class StaleReadError extends Error {
  override readonly name: string = 'StaleReadError';
}

/**
 * Calls `decide` again after each StaleReadError.
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

const transientReasons = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);

/** One reason for each item of a cancelled transaction; empty for any other error. */
export function cancellationReasons(error: unknown): string[] {
  if (!(error instanceof TransactionCanceledException)) return [];
  return (error.CancellationReasons ?? []).map((reason) => reason.Code ?? 'None');
}

/** Whether only other transactions or throttling cancelled it, so that a retry may succeed. */
export function isCancelledForNow(error: unknown): boolean {
  const reasons = cancellationReasons(error).filter((reason) => reason !== 'None');
  return reasons.length > 0 && reasons.every((reason) => transientReasons.has(reason));
}

/**
 * Reads up to 100 items, in the order of their keys, at one moment when no transaction is writing them. Two read units per 4 KB
 * of each item. A change that asserts a row's version and depends on other items must read the row with this function first: then
 * later reads see everything that was written together with this version.
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

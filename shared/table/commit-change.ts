import type { Table } from './table.ts';
import type { Transaction } from './transaction.ts';

/** Thrown if the request has been answered before, so that its change must not be made again. */
export class AnswerKeptError extends Error {
  override readonly name = 'AnswerKeptError';
}

declare const committed: unique symbol;

/** The result of a change that was committed together with the answer made of it. Only commitChange returns one. */
export type Committed<T extends object> = T & { readonly [committed]: true };

/**
 * Commits the change that a request asks for, with the answer made of its result if the request has an Idempotency-Key. A
 * request that changes nothing passes an empty transaction, which is only written if there is an answer to keep. Each request
 * calls this exactly once; its other transactions call `commit`.
 * @throws AnswerKeptError if the request has been answered before; other errors as Transaction.commit
 */
export async function commitChange<T extends object>(table: Table, transaction: Transaction, result: T): Promise<Committed<T>> {
  if (table.answerKeeper) transaction.addFirst(table.answerKeeper.keep(result));
  if (!transaction.isEmpty) await transaction.commit(table);
  return result as Committed<T>;
}

/** Returns the table for a part of a request that has its own transaction and is not its answer. */
export function withoutAnswer({ answerKeeper: _, ...table }: Table): Table {
  return table;
}

/**
 * Ends the repeat of a request before work outside the transaction, or in several. Without it, the transaction would refuse the
 * repeat too late. Makes no call without an Idempotency-Key.
 * @throws AnswerKeptError if the request has been answered before
 */
export async function refuseRepeat(table: Table): Promise<void> {
  await table.answerKeeper?.refuseRepeat();
}

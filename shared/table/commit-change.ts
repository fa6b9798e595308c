import type { Action } from './action.ts';
import type { Table } from './table.ts';
import type { Transaction } from './transaction.ts';

/** Keeps the answer to a request with an Idempotency-Key for its repeats. */
export interface AnswerKeeper {
  /** Returns the action that keeps the answer made of `result`. Fails with AnswerKeptError if an answer is kept already. */
  keep: (result: object) => Action;
  /**
   * Ends the repeat of a request before work outside the transaction, or in several. Without it, the transaction would refuse the
   * repeat too late.
   * @throws AnswerKeptError if an answer is kept already
   */
  refuseRepeat: () => Promise<void>;
}

/** Part of each request to change something. */
export interface AnsweredRequest {
  /** Passed on to commitChange. Undefined without an Idempotency-Key. */
  answerKeeper?: AnswerKeeper | undefined;
}

/** Thrown if the request has been answered before, so that its change must not be made again. */
export class AnswerKeptError extends Error {
  override readonly name = 'AnswerKeptError';
}

declare const committed: unique symbol;

/** The result of a change that was committed together with the answer made of it. Only commitChange returns one. */
export type Committed<T extends object> = T & { readonly [committed]: true };

/**
 * Commits the change that a request asks for, with the answer made of its result. A request that changes nothing passes an empty
 * transaction, which is only written if there is an answer to keep. Each request calls this exactly once; its other transactions
 * call `commit`.
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

import type { Action } from './action.ts';

/** Keeps the answer to a request for its repeats. A table has one while it serves a request with an Idempotency-Key. */
export interface AnswerKeeper {
  /** Returns the action that keeps the answer made of `result`. Fails with AnswerKeptError if an answer is kept already. */
  keep: (result: object) => Action;
  /** @throws AnswerKeptError if an answer is kept already */
  refuseRepeat: () => Promise<void>;
}

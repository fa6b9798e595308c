import type { Clock } from './clock.ts';
import { inProgressError, parameterMismatchError } from './wire-error.ts';

const validForMilliseconds = 10 * 60 * 1000;

interface Known<Result> {
  parameters: string;
  /** Undefined while the transaction is in flight. */
  ended?: { at: number; result: Result };
}

/** The result of `once`: new, or of an earlier call with the token. */
export interface Outcome<Result> {
  result: Result;
  isRepeat: boolean;
}

/**
 * The client request tokens of transactions. A token is known while its transaction is in flight, and for ten minutes after the
 * transaction was written. A cancelled transaction frees its token.
 */
export interface TransactionTokens<Result> {
  once: (token: string | undefined, parameters: string, run: () => Promise<Result>) => Promise<Outcome<Result>>;
}

export function createTransactionTokens<Result>(clock: Clock): TransactionTokens<Result> {
  const tokens = new Map<string, Known<Result>>();
  const lookUp = (token: string) => {
    const known = tokens.get(token);
    if (known?.ended && clock.now() - known.ended.at > validForMilliseconds) tokens.delete(token);
    return tokens.get(token);
  };
  return {
    once: async (token, parameters, run) => {
      if (token === undefined) return { result: await run(), isRepeat: false };
      const known = lookUp(token);
      if (known && known.parameters !== parameters) throw parameterMismatchError();
      if (known) {
        if (!known.ended) throw inProgressError();
        return { result: known.ended.result, isRepeat: true };
      }
      const started: Known<Result> = { parameters };
      tokens.set(token, started);
      try {
        const result = await run();
        started.ended = { at: clock.now(), result };
        return { result, isRepeat: false };
      } catch (error) {
        tokens.delete(token);
        throw error;
      }
    },
  };
}

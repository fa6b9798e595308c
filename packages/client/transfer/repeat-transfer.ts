import { pause } from '../calls/pause.ts';
import { causeOf, isTransient, ServiceProblem } from '../calls/service-problem.ts';

/** A transfer that was cut off. It is repeated after this. */
export interface Cut {
  /** Its message says why. */
  error: Error;
  /** How many attempts in a row brought nothing. */
  failures: number;
}

export interface RepeatOptions {
  signal?: AbortSignal | undefined;
  /** How many bytes the furthest attempt has transferred. Default: not known. */
  furthest?: (() => number) | undefined;
  onCut?: ((cut: Cut) => void) | undefined;
}

/** A transfer that failed, and that succeeds perhaps the next time. */
export class CutOffError extends Error {
  override readonly name = 'CutOffError';
}

/**
 * Repeats a transfer whose connection breaks. Gives up after five minutes and five attempts in which none came further than those
 * before.
 * @throws CutOffError when it gives up, or the ServiceProblem of the last attempt; any other error at once; the signal's reason
 */
export async function repeatTransfer<Result>(attempt: () => Promise<Result>, options: RepeatOptions): Promise<Result> {
  const { signal, furthest = () => 0, onCut } = options;
  const retries = retryLimit();
  for (;;) {
    const before = furthest();
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof Error) || !isCut(error)) throw error;
      if (furthest() > before) retries.reset();
      const next = retries.pauseAfterFailure();
      const cut = cutOff(error);
      if (next === undefined) throw error instanceof ServiceProblem ? error : cut;
      onCut?.({ error: cut, failures: retries.failures() });
      await pause(next, signal);
    }
  }
}

function cutOff(error: Error): CutOffError {
  if (error instanceof CutOffError) return error;
  return new CutOffError(error instanceof ServiceProblem ? error.detail : causeOf(error), { cause: error });
}

function isCut(error: Error): boolean {
  if (error instanceof ServiceProblem) return isTransient(error);
  const codes = [error, error.cause].map((each) => (each instanceof Error && 'code' in each ? String(each.code) : ''));
  const isNetwork = /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_|UND_ERR|ERR_STREAM_PREMATURE_CLOSE)/;
  return error instanceof CutOffError || codes.some((code) => isNetwork.test(code));
}

const fewestFailures = 5;
const leastTimeInMilliseconds = 5 * 60_000;
const longestPauseInMilliseconds = 30_000;

/** Limits how often the steps of a transfer are repeated: until five failures in a row, and five minutes, have brought no progress. */
export function retryLimit({ firstPauseInMilliseconds = 500 }: { firstPauseInMilliseconds?: number } = {}) {
  let [failures, failingSince] = [0, 0];
  return {
    /** Forgets the failures so far. */
    reset: () => {
      failures = 0;
    },
    /** The number of failures in a row without progress. */
    failures: () => failures,
    /**
     * Counts a failure. The first pause is that of the options, and each further one is twice as long, up to 30 seconds.
     * @returns the pause before the next attempt in milliseconds, or undefined to give up
     */
    pauseAfterFailure: (): number | undefined => {
      failures++;
      if (failures === 1) failingSince = Date.now();
      if (failures >= fewestFailures && Date.now() - failingSince >= leastTimeInMilliseconds) return undefined;
      return Math.min(firstPauseInMilliseconds * 2 ** (failures - 1), longestPauseInMilliseconds);
    },
  };
}

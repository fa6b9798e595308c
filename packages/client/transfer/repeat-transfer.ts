import { growingPause, retry } from '../calls/retry.ts';
import { causeOf, isTransient, ServiceProblem } from '../calls/service-problem.ts';

export interface Cut {
  error: Error;
  /** The number of attempts in a row that have brought no progress. */
  failures: number;
}

export interface RepeatOptions {
  signal?: AbortSignal | undefined;
  /**
   * Returns the number of bytes that the furthest attempt has transferred. Default: not known, so no attempt counts as progress.
   */
  furthest?: (() => number) | undefined;
  onCut?: ((cut: Cut) => void) | undefined;
}

/** The error for a transfer that was cut off. The next attempt perhaps succeeds. */
export class CutOffError extends Error {
  override readonly name = 'CutOffError';
}

/**
 * Repeats a transfer that is cut off, until it succeeds, or until at least five attempts and five minutes have brought no progress.
 * @throws the last error, a CutOffError or ServiceProblem, when it gives up; any error that is no cut at once; the signal's reason
 */
export async function repeatTransfer<Result>(attempt: () => Promise<Result>, options: RepeatOptions): Promise<Result> {
  const { signal, furthest = () => 0, onCut } = options;
  const limit = retryLimit();
  let before = 0;
  const pauseAfter = (error: unknown) => {
    if (!(error instanceof Error) || !isCut(error)) return undefined;
    const { failures, next } = limit({ hasProgressed: furthest() > before });
    const cut = cutOff(error);
    if (next === undefined) throw error instanceof ServiceProblem ? error : cut;
    onCut?.({ error: cut, failures });
    return next;
  };
  const attemptFrom = () => {
    before = furthest();
    return attempt();
  };
  return await retry(attemptFrom, { signal, pauseAfter });
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

/**
 * Returns a function that counts failures, to be called after each. It returns the next pause, or none to give up: after five
 * failures and five minutes without progress.
 */
export function retryLimit(firstPauseInMilliseconds = 500) {
  let [failures, failingSince] = [0, 0];
  /** Counts a failure. @returns the number of failures in a row, and the next pause in milliseconds: undefined to give up */
  return ({ hasProgressed = false } = {}): { failures: number; next: number | undefined } => {
    failures = hasProgressed ? 1 : failures + 1;
    if (failures === 1) failingSince = performance.now();
    const isOver = failures >= fewestFailures && performance.now() - failingSince >= leastTimeInMilliseconds;
    return { failures, next: isOver ? undefined : growingPause(failures, firstPauseInMilliseconds, longestPauseInMilliseconds) };
  };
}

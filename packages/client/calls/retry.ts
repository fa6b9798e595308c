import { isTransient, type ServiceProblem } from './service-problem.ts';

export type SetTimer = (milliseconds: number, callback: () => void) => () => void;

const setSystemTimer: SetTimer = (milliseconds, callback) => {
  const timer = setTimeout(callback, milliseconds);
  return () => clearTimeout(timer);
};

/** Waits for a number of milliseconds. @throws the signal's reason as soon as the signal is aborted */
export function pause(milliseconds: number, signal?: AbortSignal, setTimer: SetTimer = setSystemTimer): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      cancel();
      reject(signal?.reason as Error);
    };
    const cancel = setTimer(milliseconds, () => {
      signal?.removeEventListener('abort', end);
      resolve();
    });
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}

interface RetryPolicy {
  signal?: AbortSignal | undefined;
  /**
   * Returns the milliseconds to wait before the next attempt, or undefined to give up.
   * @param failures the number of failed attempts, at least 1
   */
  pauseAfter: (error: unknown, failures: number) => number | undefined;
}

/**
 * Repeats an attempt until it succeeds, and returns its result.
 * @throws the last error when the policy gives up; the signal's reason
 */
export async function retry<Result>(attempt: () => Promise<Result>, { signal, pauseAfter }: RetryPolicy): Promise<Result> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      const milliseconds = pauseAfter(error, failures);
      if (milliseconds === undefined) throw error;
      await pause(milliseconds, signal);
    }
  }
}

/**
 * Returns the pause after a number of failures, in milliseconds: `first`, doubled with each further failure, at most `longest`.
 */
export function growingPause(failures: number, first: number, longest: number): number {
  return Math.min(first * 2 ** (failures - 1), longest);
}

const firstPauseInMilliseconds = 1_000;
const longestPauseInMilliseconds = 15_000;

export interface RetryUntilAbortedOptions {
  signal?: AbortSignal | undefined;
  onInterruption?: ((problem: ServiceProblem) => void) | undefined;
  onRecovery?: (() => void) | undefined;
}

/**
 * Repeats a call of the service while the service cannot be reached or fails.
 * @throws ServiceProblem if the service refuses the call; the signal's reason
 */
export async function retryUntilAborted<Answer>(
  ask: () => Promise<Answer>,
  { signal, onInterruption, onRecovery }: RetryUntilAbortedOptions,
): Promise<Answer> {
  let interruptions = 0;
  const pauseAfter = (error: unknown, failures: number) => {
    if (!isTransient(error)) return undefined;
    interruptions += 1;
    onInterruption?.(error);
    return growingPause(failures, firstPauseInMilliseconds, longestPauseInMilliseconds);
  };
  const answer = await retry(ask, { signal, pauseAfter });
  if (interruptions > 0) onRecovery?.();
  return answer;
}

import { pause } from './pause.ts';
import { isTransient, ServiceProblem } from './service-problem.ts';

const firstPauseInMilliseconds = 1_000;
const longestPauseInMilliseconds = 15_000;

export interface RetryUntilAbortedOptions {
  signal?: AbortSignal | undefined;
  /** Called when the service cannot be reached, before the next try. */
  onInterruption?: ((problem: ServiceProblem) => void) | undefined;
  /** Called when the service answers again after an interruption. */
  onRecovery?: (() => void) | undefined;
}

/**
 * Repeats `ask` while the service cannot be reached or fails, also after the client's own retries, until the signal aborts.
 * @throws ServiceProblem if the service refuses; the signal's reason
 */
export async function retryUntilAborted<Answer>(
  ask: () => Promise<Answer>,
  { signal, onInterruption, onRecovery }: RetryUntilAbortedOptions,
): Promise<Answer> {
  let isInterrupted = false;
  for (let next = firstPauseInMilliseconds; ; next = Math.min(next * 2, longestPauseInMilliseconds)) {
    try {
      const answer = await ask();
      if (isInterrupted) onRecovery?.();
      return answer;
    } catch (error) {
      if (!(error instanceof ServiceProblem) || !isTransient(error)) throw error;
      isInterrupted = true;
      onInterruption?.(error);
      await pause(next, signal);
    }
  }
}

import { pause } from './pause.ts';
import { ServiceProblem } from './service-problem.ts';

const firstPauseInMilliseconds = 1_000;
const longestPauseInMilliseconds = 15_000;

/**
 * Repeats `ask` while the service cannot be reached or fails, also after the client's own retries, until the signal aborts.
 * @throws ServiceProblem if the service refuses; the signal's reason
 */
export async function persistently<Answer>(
  ask: () => Promise<Answer>,
  options: { signal?: AbortSignal | undefined; onInterruption?: ((problem: ServiceProblem) => void) | undefined },
): Promise<Answer> {
  for (let next = firstPauseInMilliseconds; ; next = Math.min(next * 2, longestPauseInMilliseconds)) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ServiceProblem) || !mayPass(error)) throw error;
      options.onInterruption?.(error);
      await pause(next, options.signal);
    }
  }
}

function mayPass({ status }: ServiceProblem): boolean {
  return status === 0 || status === 429 || status >= 500;
}

import { setTimeout as delay } from 'node:timers/promises';

/** The domain has used up its limit: it fills again in this time. */
const pauseInMilliseconds = 1_000;
const mostAttempts = 60;

/** Repeats a call while it is refused with 429, for a minute at most. Returns the last answer. */
export async function retryWhileLimited<T extends { status: number }>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const answer = await work();
    if (answer.status !== 429 || attempt === mostAttempts) return answer;
    await delay(pauseInMilliseconds);
  }
}

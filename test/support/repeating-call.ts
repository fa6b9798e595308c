import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { longestWaitInMilliseconds } from './patience.ts';

/** Tells whether an answer is that of a busy domain, a busy service, or a log that is about to grow, which end by themselves. */
function isPassing({ status, body }: { status: number; body?: unknown }): boolean {
  return [429, 503].includes(status) || (status === 409 && (body as { reason?: string } | undefined)?.reason === 'log_pending');
}
const pauseInMilliseconds = 250;

/**
 * Sends a request again while it is answered with 429, 503 or `log_pending`, or its connection is lost, as clients should. Returns that answer, or throws that
 * error, if the time of the test is over.
 * A change needs the same `Idempotency-Key` each time, to stay one change.
 */
export async function untilAnswered<Answer extends { status: number }>(send: () => Promise<Answer>): Promise<Answer> {
  const endsAt = performance.now() + longestWaitInMilliseconds;
  for (;;) {
    const answer = await send().catch((error: unknown) => {
      if (!isLost(error) || performance.now() > endsAt) throw error;
      return undefined;
    });
    if (answer && (!isPassing(answer) || performance.now() > endsAt)) return answer;
    await delay(pauseInMilliseconds);
  }
}

/** Tells whether a request failed because its connection was reset before the answer came. */
const isLost = (error: unknown) =>
  error instanceof TypeError && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNRESET';

type Call<Answer> = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;

/** Returns a call that gives each request a key and repeats it while the service is busy. Tests set up with it what they need. */
export function repeating<Answer extends { status: number }>(call: Call<Answer>): Call<Answer> {
  return async (method, path, body, more = {}) => {
    const headers = { 'idempotency-key': randomUUID(), ...more };
    return await untilAnswered(() => call(method, path, body, headers));
  };
}

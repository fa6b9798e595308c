import { setTimeout as delay } from 'node:timers/promises';

/** @throws Error with the message when something is not as it must be. */
export function ensure(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

/** Asks until there is an answer, for at most half a minute. @throws Error saying what did not come */
export async function eventually<Answer>(what: string, ask: () => Promise<Answer | undefined>): Promise<Answer> {
  const deadline = Date.now() + 30_000;
  while (Date.now() < deadline) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await delay(100);
  }
  throw new Error(`${what} within half a minute`);
}

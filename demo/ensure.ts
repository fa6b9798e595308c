import { setTimeout as delay } from 'node:timers/promises';

/** @throws Error with the message if the condition is false */
export function ensure(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

/** Polls until `ask` returns a value, for at most 30 seconds. @throws Error that starts with `what` if it never does */
export async function eventually<Answer>(what: string, ask: () => Promise<Answer | undefined>): Promise<Answer> {
  const deadline = Date.now() + 30_000;
  while (Date.now() < deadline) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await delay(100);
  }
  throw new Error(`${what} within half a minute`);
}

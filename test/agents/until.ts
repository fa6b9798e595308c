import { setTimeout as delay } from 'node:timers/promises';

/** Waits until something is so. @throws Error with `what` if it is not so in time */
export async function until(what: string, isSo: () => Promise<boolean>, seconds = 60): Promise<void> {
  const deadline = performance.now() + seconds * 1_000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${seconds} seconds.`);
    await delay(100);
  }
}

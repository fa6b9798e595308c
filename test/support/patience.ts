import { availableParallelism, loadavg } from 'node:os';
import { systemClock } from '../../shared/runtime/deadline.ts';

/**
 * Milliseconds that a test waits for a fact. It is far more than any fact takes at a load of 10 on two cores. `TEST_PATIENCE` shortens it
 * where many tests are to fail (test/mutants/).
 */
export const longestWaitInMilliseconds = Number(process.env['TEST_PATIENCE'] ?? 290_000);

/** A clock by which no read takes too long (packages/counted-list/view.ts). */
export const patientClock = { ...systemClock, steady: () => 0 };

/**
 * Options for `vi.waitFor`: the wait ends shortly before the time limit of the test, so that the assertion that failed is
 * printed. On a busy machine the fact may take long, and a shorter limit would fail a test that is about to pass.
 */
export const untilTestEnds = { timeout: longestWaitInMilliseconds, interval: 50 };

/**
 * Returns how many times longer the machine takes now than with a free core for everybody, from its load of the last minute. At least 1.
 */
export function slowness(): number {
  const [load = 0] = loadavg();
  return Math.max(1, load / availableParallelism());
}

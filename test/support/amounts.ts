import type { TestContext } from 'vitest';

/** Tells that the large tests run in full, as `npm run test:full` asks for. `npm test` runs a sample of them. */
const isFull = process.env['TEST_FULL'] === '1';

/** Returns `full` in a full run, and `sample` otherwise. */
export function amount<T>({ sample, full }: { sample: T; full: T }): T {
  return isFull ? full : sample;
}

/** The seed of the samples: `TEST_SEED`, or a random one. A test prints it with what failed. */
export const sampleSeed = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 1_000));

/** Returns all values in a full run, and one that the seed chooses otherwise. */
export function oneOf<T>(values: readonly [T, ...T[]]): T[] {
  const start = sampleSeed % values.length;
  return amount({ sample: values.slice(start, start + 1), full: [...values] });
}

/**
 * Returns a hook for `beforeEach` of slow tests that need nothing of each other: of `n`, a sample runs one, which its seed and the titles
 * choose. A full run has all.
 */
export function oneIn(n: number): (context: TestContext) => void {
  return ({ task, skip }) =>
    skip(!isFull && (placeOf(task.name) + sampleSeed) % n !== 0, `not in the sample of TEST_SEED=${sampleSeed}`);
}

/** Returns a number that only the text decides. */
function placeOf(text: string): number {
  return Buffer.from(text).reduce((sum, byte) => (sum * 31 + byte) % 1_000_003, 0);
}

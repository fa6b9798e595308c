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

import { afterAll, beforeAll } from 'vitest';

/**
 * Starts what the tests of a file use together before the first of them, and stops it after the last one.
 * @returns an object that has the properties from then on, so it must not be taken apart outside of tests and hooks
 */
export function sharedByTests<T extends object & { stop: () => Promise<void> }>(start: () => Promise<T>): T {
  const shared = {} as T;
  beforeAll(async () => {
    Object.assign(shared, await start());
  });
  afterAll(() => shared.stop());
  return shared;
}

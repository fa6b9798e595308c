import { afterEach, describe, expect, it } from 'vitest';
import { type Background, startBackground } from '../../../local/functions/background.ts';
import { testClock } from '../../support/test-clock.ts';

const minute = 60_000;
let background: Background | undefined;
afterEach(() => background?.stop());

describe('startBackground', () => {
  it('invokes a scheduled function once in each interval', async () => {
    const clock = testClock();
    const invoked: string[] = [];
    background = startBackground(async (name) => void invoked.push(name), clock);
    background.every(1, 'sweep');
    background.every(3, 'collect');
    for (let minutes = 0; minutes < 3; minutes++) {
      clock.move(minute);
      await expect.poll(() => invoked.length).toBeGreaterThan(minutes);
    }
    expect(invoked.toSorted()).toEqual(['collect', 'sweep', 'sweep', 'sweep']);
  });

  it('skips a turn of a scheduled function that is still running', async () => {
    const clock = testClock();
    const ends: (() => void)[] = [];
    background = startBackground(() => new Promise((resolve) => ends.push(() => resolve(undefined))), clock);
    background.every(1, 'sweep');
    clock.move(60 * minute);
    expect(ends).toHaveLength(1);
    ends[0]?.();
    await new Promise(setImmediate);
    clock.move(minute);
    expect(ends).toHaveLength(2);
    ends[1]?.();
  });

  it('retries a failed invocation twice, after one second and after five more', async () => {
    const clock = testClock();
    const attemptedAt: number[] = [];
    const start = clock.now();
    background = startBackground(() => {
      attemptedAt.push(clock.now() - start);
      return attemptedAt.length < 3 ? Promise.reject(new Error('busy')) : Promise.resolve(undefined);
    }, clock);
    background.invoke('receive', {});
    for (const [attempts, seconds] of [
      [1, 1],
      [2, 5],
    ] as const) {
      await expect.poll(() => attemptedAt.length).toBe(attempts);
      await new Promise(setImmediate);
      clock.move(seconds * 1_000);
    }
    await expect.poll(() => attemptedAt.length).toBe(3);
    expect(attemptedAt[2]).toBeGreaterThanOrEqual(6_000);
  });

  it('starts nothing after stop, which waits for the invocations that are running', async () => {
    const clock = testClock();
    let invoked = 0;
    let end: () => void = () => undefined;
    background = startBackground(() => {
      invoked++;
      return new Promise((resolve) => (end = () => resolve(undefined)));
    }, clock);
    background.every(1, 'sweep');
    background.invoke('receive', {});
    let hasStopped = false;
    const stopped = background.stop().finally(() => (hasStopped = true));
    clock.move(5 * minute);
    background.invoke('receive', {});
    await new Promise(setImmediate); // a stop that waited for nothing would have settled by now
    expect(hasStopped).toBe(false);
    end();
    await stopped;
    expect(invoked).toBe(1);
  });
});

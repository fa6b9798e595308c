import { describe, expect, it } from 'vitest';
import { testClock } from './test-clock.ts';

const hour = 3_600_000;

describe('a clock that does not run', () => {
  const standing = () => testClock({ start: 0, speed: 0 });

  it('fires timers at their own times, in order, and not the cancelled ones', async () => {
    const clock = standing();
    const fired: [string, number][] = [];
    const note = (name: string) => () => fired.push([name, clock.now()]);
    clock.setTimer(20, note('late'));
    clock.setTimer(10, note('early'));
    clock.setTimer(15, note('cancelled'))();
    await clock.advance(19);
    expect([fired, clock.now()]).toEqual([[['early', 10]], 19]);
    await clock.advance(1);
    expect(fired).toEqual([
      ['early', 10],
      ['late', 20],
    ]);
  });

  it('fires the timers that are set while it advances, as far as they become due', async () => {
    const clock = standing();
    const waited = (async () => {
      await clock.wait(5);
      await clock.wait(5);
      return clock.now();
    })();
    await clock.advance(10);
    expect(await waited).toBe(10);
  });

  it('advances to the next timer, and refuses where none is set', async () => {
    const clock = standing();
    const waited = clock.wait(7);
    await clock.advanceToNext();
    await waited;
    expect(clock.now()).toBe(7);
    await expect(clock.advanceToNext()).rejects.toThrow('No timer is set.');
  });

  it('jumps ahead by its waits if it skips them', async () => {
    const clock = testClock({ start: 0, speed: 0, skipsWaits: true });
    await clock.wait(hour);
    expect(clock.now()).toBe(hour);
  });
});

describe('a clock that runs', () => {
  it('fires due timers in order, each at its own time, as it is moved', () => {
    const clock = testClock();
    const start = clock.now();
    const fired: [string, number][] = [];
    const note = (name: string) => () => void fired.push([name, Math.floor((clock.now() - start) / hour)]);
    clock.setTimer(2 * hour, note('second'));
    clock.setTimer(hour, () => {
      note('first')();
      clock.setTimer(2 * hour, note('third, set by the first'));
    });
    clock.setTimer(5 * hour, note('beyond'));
    clock.move(4 * hour);
    expect(fired).toEqual([
      ['first', 1],
      ['second', 2],
      ['third, set by the first', 3],
    ]);
    expect(clock.now() - start).toBeGreaterThanOrEqual(4 * hour);
  });

  it('fires a timer earlier by the time that it was moved, and never a cancelled one', async () => {
    const clock = testClock();
    let fired = 0;
    clock.setTimer(1, () => fired++)();
    const waited = clock.wait(hour);
    clock.move(hour - 5);
    await expect(waited).resolves.toBeUndefined();
    expect(fired).toBe(0);
  });

  it('advances by itself', async () => {
    const clock = testClock();
    const start = clock.now();
    await clock.wait(10);
    expect(clock.now()).toBeGreaterThan(start);
  });
});

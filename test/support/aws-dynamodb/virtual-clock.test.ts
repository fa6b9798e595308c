import { describe, expect, it } from 'vitest';
import { virtualClock } from './virtual-clock.ts';

describe('the virtual clock', () => {
  it('fires timers at their own times, in order, and not the cancelled ones', async () => {
    const clock = virtualClock();
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
    const clock = virtualClock();
    const waited = (async () => {
      await clock.wait(5);
      await clock.wait(5);
      return clock.now();
    })();
    await clock.advance(10);
    expect(await waited).toBe(10);
  });

  it('advances to the next timer, and refuses where none is set', async () => {
    const clock = virtualClock();
    const waited = clock.wait(7);
    await clock.advanceToNext();
    await waited;
    expect(clock.now()).toBe(7);
    await expect(clock.advanceToNext()).rejects.toThrow('No timer is set.');
  });
});

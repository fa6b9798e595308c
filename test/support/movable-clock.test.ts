import { describe, expect, it } from 'vitest';
import { movableClock } from './movable-clock.ts';

const hour = 3_600_000;

describe('movableClock', () => {
  it('fires due timers in order, each at its own time', () => {
    const clock = movableClock();
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

  it('fires a timer earlier by the time that it was moved', async () => {
    const clock = movableClock();
    const waited = clock.wait(hour);
    clock.move(hour - 5);
    await expect(waited).resolves.toBeUndefined();
  });

  it('never fires a cancelled timer', () => {
    const clock = movableClock();
    let fired = 0;
    clock.setTimer(1, () => fired++)();
    clock.move(hour);
    expect(fired).toBe(0);
  });

  it('advances by itself', async () => {
    const clock = movableClock();
    const start = clock.now();
    await clock.wait(10);
    expect(clock.now()).toBeGreaterThan(start);
  });
});

import { describe, expect, it } from 'vitest';
import { Deadline } from '../../../shared/runtime/deadline.ts';
import { aWait } from '../../support/a-wait.ts';
import { isOver } from '../../../shared/waits/wait.ts';

/** A clock whose wall time jumps while `steady` goes on. */
function clockThatIsSet() {
  const time = { wall: 1_800_000_000_000, steady: 0 };
  const clock = { now: () => time.wall, steady: () => time.steady, wait: () => Promise.resolve() };
  const set = (hours: number) => (time.wall += hours * 3_600_000);
  return { clock, time, set };
}

describe('a deadline', () => {
  it('neither ends sooner nor later when the wall clock is set', () => {
    const { clock, time, set } = clockThatIsSet();
    const deadline = new Deadline(5_000, clock);
    set(1);
    expect(deadline.remaining).toBe(5_000);
    time.steady += 5_000;
    set(-2);
    expect([deadline.remaining, deadline.elapsed]).toEqual([0, 5_000]);
  });
});

describe('a wait', () => {
  it('neither ends sooner nor later when the wall clock is set', () => {
    const { clock, time, set } = clockThatIsSet();
    const wait = aWait({ clock, endsAt: 20_000 });
    set(1);
    expect(isOver(wait)).toBe(false);
    time.steady += 20_000;
    set(-2);
    expect(isOver(wait)).toBe(true);
  });
});

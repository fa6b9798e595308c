import type { Clock } from '../shared/clock.ts';

/**
 * A clock to measure durations with. When the given clock is set back, this one goes on from where it was: otherwise everything that
 * was due in a second would wait for as long as the clock was set back. It may be ahead of the given clock after that.
 */
export function steadyClock(clock: Clock): Clock {
  let last = -Infinity;
  let ahead = 0;
  return {
    ...clock,
    now: () => {
      const time = clock.now();
      ahead = Math.max(ahead, last - time);
      last = time + ahead;
      return last;
    },
  };
}

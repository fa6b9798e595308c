import { systemClock, type Clock } from '../../shared/runtime/clock.ts';

/** A clock that moves only by its waits, which take no time. */
export function standingClock(): Clock {
  let now = systemClock.now();
  return {
    now: () => now,
    wait: async (milliseconds) => {
      now += Math.max(0, milliseconds);
    },
  };
}

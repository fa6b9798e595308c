import { systemTimerClock, type TimerClock } from '../../shared/runtime/clock.ts';

/** A clock whose waits take no time: it jumps ahead by them. Its timers take real time. */
export function skippingClock(): TimerClock {
  let skipped = 0;
  return {
    now: () => systemTimerClock.now() + skipped,
    wait: async (milliseconds) => {
      skipped += Math.max(0, milliseconds);
    },
    setTimer: systemTimerClock.setTimer,
  };
}

import { systemTimerClock, type TimerClock } from '../../shared/runtime/clock.ts';

/** Runs at a twentieth of the speed, so that a busy machine meets no deadline: the subject is correctness, not speed. */
export function slowClock(): TimerClock {
  const slowdown = 20;
  const startedAt = Date.now();
  return {
    now: () => startedAt + (Date.now() - startedAt) / slowdown,
    wait: systemTimerClock.wait,
    setTimer: (milliseconds, callback) => systemTimerClock.setTimer(milliseconds * slowdown, callback),
  };
}

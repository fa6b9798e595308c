import { systemTimerClock, type TimerClock } from '../../shared/runtime/clock.ts';

/** A clock that runs at real speed and that a test can move forward. */
export interface MovableClock extends TimerClock {
  /** Moves the time forward. Before it returns, all due timers fire in order, each at its own time. */
  move: (milliseconds: number) => void;
}

interface Timer {
  dueAt: number;
  callback: () => void;
  cancel: () => void;
}

export function movableClock(): MovableClock {
  let moved = 0;
  const timers = new Set<Timer>();
  const now = () => systemTimerClock.now() + moved;
  const advanceTo = (time: number) => {
    moved += Math.max(0, time - now());
  };
  const fire = (timer: Timer) => {
    timers.delete(timer);
    timer.cancel();
    timer.callback();
  };
  const arm = (timer: Timer) => {
    timer.cancel();
    timer.cancel = systemTimerClock.setTimer(Math.max(0, timer.dueAt - now()), () => fire(timer));
  };
  const firstDueBy = (time: number) => [...timers].filter(({ dueAt }) => dueAt <= time).sort((a, b) => a.dueAt - b.dueAt)[0];

  const setTimer = (milliseconds: number, callback: () => void) => {
    const timer: Timer = { dueAt: now() + milliseconds, callback, cancel: () => undefined };
    timers.add(timer);
    arm(timer);
    return () => {
      timers.delete(timer);
      timer.cancel();
    };
  };
  return {
    now,
    wait: (milliseconds) => new Promise((resolve) => void setTimer(milliseconds, resolve)),
    setTimer,
    move: (milliseconds) => {
      const end = now() + milliseconds;
      for (let timer = firstDueBy(end); timer; timer = firstDueBy(end)) {
        advanceTo(timer.dueAt);
        fire(timer);
      }
      advanceTo(end);
      for (const timer of timers) arm(timer);
    },
  };
}

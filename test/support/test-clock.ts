import { setImmediate as turn } from 'node:timers/promises';
import { systemTimerClock, type TimerClock } from '../../shared/runtime/deadline.ts';

export interface TestClock extends TimerClock {
  /** Moves the time forward. Before it returns, the due timers fire in order, each at its own time. */
  move: (milliseconds: number) => void;
  /** The same, and what waits for a timer goes on before the next one fires. */
  advance: (milliseconds: number) => Promise<void>;
  /** Moves the time to the next timer and fires it. */
  advanceToNext: () => Promise<void>;
  /** Returns the number of timers that are set. */
  timers: () => number;
  /** Resolves as soon as exactly this number of timers is set. */
  untilTimers: (count: number) => Promise<void>;
}

interface Timer {
  at: number;
  callback: () => void;
  cancel: () => void;
}

interface TestClockOptions {
  /** Default: now. */
  start?: number;
  /**
   * The speed of the clock. 0: it moves only as it is moved. Slower than 1: its deadlines come late, and its waits do not take longer.
   * Default 1.
   */
  speed?: number;
  /** Makes waits take no time: the clock jumps ahead by them. Its timers do not. */
  skipsWaits?: boolean;
}

/** The clock of tests. */
export function testClock({ start = Date.now(), speed = 1, skipsWaits = false }: TestClockOptions = {}): TestClock {
  const startedAt = systemTimerClock.now();
  let moved = 0;
  const timers = new Set<Timer>();
  const watchers = new Set<() => void>();
  const notify = () => {
    for (const watch of watchers) watch();
  };
  const now = () => start + (systemTimerClock.now() - startedAt) * speed + moved;
  const moveTo = (time: number) => {
    moved += Math.max(0, time - now());
  };
  const fire = (timer: Timer) => {
    timers.delete(timer);
    timer.cancel();
    timer.callback();
  };
  const arm = (timer: Timer) => {
    timer.cancel();
    if (speed > 0) timer.cancel = systemTimerClock.setTimer(Math.max(0, timer.at - now()) / speed, () => fire(timer));
  };
  const setTimer = (milliseconds: number, callback: () => void) => {
    const timer: Timer = { at: now() + milliseconds, callback, cancel: () => undefined };
    timers.add(timer);
    arm(timer);
    notify();
    return () => {
      timers.delete(timer);
      timer.cancel();
      notify();
    };
  };
  const next = () => {
    let first: Timer | undefined;
    for (const timer of timers) if (!first || timer.at < first.at) first = timer;
    return first;
  };
  const fireNext = async (timer: Timer) => {
    moveTo(timer.at);
    fire(timer);
    await turn();
    notify();
  };
  const wait = async (milliseconds: number) => {
    if (skipsWaits) moved += Math.max(0, milliseconds);
    else if (speed > 0 && speed < 1) await systemTimerClock.wait(milliseconds);
    else await new Promise<void>((resolve) => setTimer(milliseconds, resolve));
  };

  return {
    now,
    wait,
    setTimer,
    move: (milliseconds) => {
      const end = now() + milliseconds;
      for (let due = next(); due && due.at <= end; due = next()) {
        moveTo(due.at);
        fire(due);
      }
      moveTo(end);
      for (const timer of timers) arm(timer);
    },
    advance: async (milliseconds) => {
      const end = now() + milliseconds;
      for (let due = next(); due && due.at <= end; due = next()) await fireNext(due);
      moveTo(end);
    },
    advanceToNext: async () => {
      const due = next();
      if (!due) throw new Error('No timer is set.');
      await fireNext(due);
    },
    timers: () => timers.size,
    untilTimers: (count) =>
      new Promise((resolve) => {
        const watch = () => {
          if (timers.size !== count) return;
          watchers.delete(watch);
          resolve();
        };
        watchers.add(watch);
        watch();
      }),
  };
}

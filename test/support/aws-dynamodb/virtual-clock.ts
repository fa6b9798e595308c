import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from './clock.ts';

/** A clock that does not run until it is moved. */
export interface VirtualClock extends Clock {
  /** Moves the time forward and fires the due timers, each at its own time. */
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
}

export function virtualClock(): VirtualClock {
  let time = 0;
  const timers = new Set<Timer>();
  const watchers = new Set<() => void>();

  const notify = () => {
    for (const watch of watchers) watch();
  };
  const setTimer = (milliseconds: number, callback: () => void) => {
    const timer = { at: time + milliseconds, callback };
    timers.add(timer);
    notify();
    return () => {
      timers.delete(timer);
      notify();
    };
  };
  const next = () =>
    [...timers].reduce<Timer | undefined>((first, each) => (first && first.at <= each.at ? first : each), undefined);
  const fire = async (timer: Timer) => {
    timers.delete(timer);
    time = Math.max(time, timer.at);
    timer.callback();
    await turn();
    notify();
  };

  return {
    now: () => time,
    wait: (milliseconds) => new Promise((resolve) => setTimer(milliseconds, resolve)),
    setTimer,
    advance: async (milliseconds) => {
      const end = time + milliseconds;
      for (let due = next(); due && due.at <= end; due = next()) await fire(due);
      time = end;
    },
    advanceToNext: async () => {
      const due = next();
      if (!due) throw new Error('No timer is set.');
      await fire(due);
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

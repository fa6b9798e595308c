import { setTimeout as delay } from 'node:timers/promises';

/** The clock of the front, in milliseconds. */
export interface Clock {
  now: () => number;
  wait: (milliseconds: number) => Promise<void>;
  /** Calls back once after the delay. The returned function cancels it. */
  setTimer: (milliseconds: number, callback: () => void) => () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  wait: async (milliseconds) => {
    await delay(milliseconds);
  },
  setTimer: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};

import { setTimeout as wait } from 'node:timers/promises';

/** In milliseconds. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now: () => number;
  wait: (milliseconds: number) => Promise<void>;
  /** Milliseconds since any moment. Never goes back. Default: `now`. */
  steady?: () => number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  wait: (milliseconds) => wait(milliseconds),
  steady: () => performance.now(),
};

export function steadyTimeOf(clock: Clock): number {
  return clock.steady?.() ?? clock.now();
}

export function timestampOf(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}

export interface TimerClock extends Clock {
  /** Returns a function that cancels the timer, and does nothing once it has fired. */
  setTimer: (milliseconds: number, callback: () => void) => () => void;
}

/** The longest delay of a Node timer (24 days). */
const longestInMilliseconds = 2 ** 31 - 1;

export const systemTimerClock: TimerClock = {
  ...systemClock,
  setTimer: (milliseconds, callback) => {
    const timer = setTimeout(callback, Math.min(milliseconds, longestInMilliseconds));
    return () => clearTimeout(timer);
  },
};

/** @throws AbortError as soon as the signal is aborted */
export async function pause(clock: TimerClock, milliseconds: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const abort = () => {
      cancel();
      reject(new DOMException('The wait was aborted.', 'AbortError'));
    };
    const cancel = clock.setTimer(milliseconds, () => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}

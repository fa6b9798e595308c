import { ServiceError } from './errors.ts';
import type { Context } from 'aws-lambda';
import { setTimeout as wait } from 'node:timers/promises';

/** For a request, or one operation of a task, before it fails with `unavailable`. */
export const maxTimeInMilliseconds = 5_000;

/** For repeats of what others keep changing: they hold a function, and all domains share the account's functions. */
export const maxRetryTimeInMilliseconds = 3_000;

const pauses = { first: 30, longest: 1_000 };

/** Doubles with each failure in a row, from 1, up to `longest`. In milliseconds. */
export function growingPause(failures: number, { first, longest }: { first: number; longest: number }): number {
  return Math.min(longest, first * 2 ** (failures - 1));
}

/** All retries of a request share one deadline. */
export class Deadline {
  private readonly clock: Clock;
  private readonly startedAt: number;
  private readonly endsAt: number;
  private readonly retriesEndAt: number;
  private readonly functionEndsAt: number;
  private abortSignal: AbortSignal | undefined;

  /**
   * @param limits.retryTime milliseconds. Default: until the deadline
   * @param limits.functionTime the milliseconds that the function may still work. Default: no limit
   */
  constructor(
    milliseconds: number = maxTimeInMilliseconds,
    clock: Clock = systemClock,
    { retryTime = milliseconds, functionTime = Infinity }: { retryTime?: number | undefined; functionTime?: number } = {},
  ) {
    this.clock = clock;
    this.startedAt = steadyTimeOf(clock);
    this.endsAt = this.startedAt + Math.min(milliseconds, functionTime);
    this.retriesEndAt = Math.min(this.endsAt, this.startedAt + retryTime);
    this.functionEndsAt = this.startedAt + functionTime;
  }

  /** Milliseconds since the deadline was set. */
  get elapsed(): number {
    return steadyTimeOf(this.clock) - this.startedAt;
  }

  /** Milliseconds left, never below 0. */
  get remaining(): number {
    return Math.max(0, this.endsAt - steadyTimeOf(this.clock));
  }

  /**
   * Waits before attempt 1, 2, ... for a random time, whose bound doubles (full jitter).
   * @returns false, without waiting, if the time left is too short for another attempt
   */
  async tryToPause(attempt: number): Promise<boolean> {
    const pause = Math.random() * growingPause(attempt, pauses);
    if (pause >= this.retriesEndAt - steadyTimeOf(this.clock)) return false;
    await this.clock.wait(pause);
    return true;
  }

  /**
   * As tryToPause.
   * @param cause why another attempt is needed, for the log
   * @throws ServiceError `unavailable` if the time left is too short for another attempt
   */
  async pause(attempt: number, cause: unknown): Promise<void> {
    if (await this.tryToPause(attempt)) return;
    throw new ServiceError('unavailable', 'The service is busy. Try again in a moment.', {}, cause);
  }

  /**
   * Repeats `attempt`, with pauses, while it throws errors that `mayPass`. Both get the number of the attempt, from 1.
   * @throws ServiceError `unavailable` if the time left is too short for another attempt; errors that may not pass
   */
  async retry<T>(attempt: (count: number) => Promise<T>, mayPass: (error: unknown, count: number) => boolean): Promise<T> {
    for (let count = 1; ; count++) {
      try {
        return await attempt(count);
      } catch (error) {
        if (!mayPass(error, count)) throw error;
        await this.pause(count, error);
      }
    }
  }

  /** For what must still be done after a change was committed or has failed. Ends before the function does. */
  next(milliseconds: number = maxTimeInMilliseconds): Deadline {
    const left = Math.max(0, this.functionEndsAt - steadyTimeOf(this.clock));
    return new Deadline(milliseconds, this.clock, { functionTime: left });
  }

  /** The same one each time, so it may be aborted already. */
  signal(): AbortSignal {
    return (this.abortSignal ??= AbortSignal.timeout(Math.ceil(this.remaining)));
  }
}

/** The work goes on by itself. @throws the signal's reason as soon as it is aborted */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const late = Promise.withResolvers<never>();
  const abort = () => late.reject(signal.reason as DOMException);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    signal.removeEventListener('abort', abort); // else the signal keeps the result in memory until it is aborted
  }
}

/** A request has one deadline, a task a new one for each operation. */
export type DeadlineSource = () => Deadline;

/** Only tests and the one-machine stack pass a clock. */
export interface Invocation extends Partial<Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>> {
  clock?: Clock;
  draining?: AbortSignal;
}

/** Kept free for writing the response and the log. */
const reserveInMilliseconds = 500;

/** Milliseconds that the function may still work. */
function timeLeft(invocation: Invocation | undefined): number {
  return (invocation?.getRemainingTimeInMillis?.() ?? Infinity) - reserveInMilliseconds;
}

export function clockOf(invocation: Invocation | undefined): Clock {
  return invocation?.clock ?? systemClock;
}

/**
 * 5 seconds from now, or less if the function's time limit is closer.
 * @param retryTime the milliseconds during which conflicts are retried. Default: until the deadline
 */
export function deadlineOfInvocation(invocation: Invocation | undefined, retryTime?: number): Deadline {
  const functionTime = Math.max(0, timeLeft(invocation));
  return new Deadline(maxTimeInMilliseconds, clockOf(invocation), { retryTime, functionTime });
}

/** In milliseconds, before its last operation, which has a deadline of 5 seconds. */
export function longestWaitOf(invocation: Invocation | undefined): number {
  return Math.max(0, timeLeft(invocation) - maxTimeInMilliseconds);
}

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

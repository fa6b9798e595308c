import { ServiceError } from './errors.ts';
import type { Context } from 'aws-lambda';
import { setTimeout as wait } from 'node:timers/promises';

/** The time that a request, or one operation of a task, may take before it fails with `unavailable`, in milliseconds. */
export const maxTimeInMilliseconds = 5_000;

/**
 * The time for which a request repeats what fails because other requests change the same items, in milliseconds. Such repeats
 * hold a function, and all domains share the account's functions.
 */
export const maxRetryTimeInMilliseconds = 3_000;

const pauses = { first: 30, longest: 1_000 };

/**
 * Returns the pause after a number of failures in a row, in milliseconds. It doubles with each failure, up to `longest`.
 * @param failures the number of failures in a row, from 1
 */
export function growingPause(failures: number, { first, longest }: { first: number; longest: number }): number {
  return Math.min(longest, first * 2 ** (failures - 1));
}

/** The time until which a request must be done. All its retries share one deadline. */
export class Deadline {
  private readonly clock: Clock;
  private readonly startedAt: number;
  private readonly endsAt: number;
  private readonly retriesEndAt: number;
  private readonly functionEndsAt: number;
  private abortSignal: AbortSignal | undefined;

  /**
   * Sets a deadline the given number of milliseconds from now.
   * @param limits.retryTime the milliseconds during which conflicts are retried. Default: until the deadline
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

  /** The milliseconds since the deadline was set. */
  get elapsed(): number {
    return steadyTimeOf(this.clock) - this.startedAt;
  }

  /** The milliseconds left until the deadline, never below 0. */
  get remaining(): number {
    return Math.max(0, this.endsAt - steadyTimeOf(this.clock));
  }

  /**
   * Waits before another attempt of a failed operation, for a random time whose bound doubles with each attempt (full jitter).
   * @param attempt 1 before the second try, 2 before the third, and so on
   * @returns false, without waiting, if the time left is too short for another attempt
   */
  async tryToPause(attempt: number): Promise<boolean> {
    const pause = Math.random() * growingPause(attempt, pauses);
    if (pause >= this.retriesEndAt - steadyTimeOf(this.clock)) return false;
    await this.clock.wait(pause);
    return true;
  }

  /**
   * Waits before another attempt, as `tryToPause` does.
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

  /**
   * Returns a new deadline for what must still be done after a change was committed or has failed. It ends before the function
   * does.
   */
  next(milliseconds: number = maxTimeInMilliseconds): Deadline {
    const left = Math.max(0, this.functionEndsAt - steadyTimeOf(this.clock));
    return new Deadline(milliseconds, this.clock, { functionTime: left });
  }

  /**
   * Returns a signal that is aborted at the deadline. Each call returns the same signal, so the signal may be aborted already.
   */
  signal(): AbortSignal {
    return (this.abortSignal ??= AbortSignal.timeout(Math.ceil(this.remaining)));
  }
}

/**
 * Waits for work, or until the signal is aborted. Aborting ends only the wait: the work goes on by itself.
 * @throws the signal's reason as soon as it is aborted
 */
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

/**
 * A function that returns the deadline of an operation: in a request always the same deadline, in a task a new one for each
 * operation.
 */
export type DeadlineSource = () => Deadline;

/** The context of a call of a function: the time left, the clock, the signal to stop. Only tests and the one-machine stack pass a clock. */
export interface Invocation extends Partial<Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>> {
  clock?: Clock;
  draining?: AbortSignal;
}

/** The time at the end of a call of a function that stays free for writing the response and the log, in milliseconds. */
const reserveInMilliseconds = 500;

/** Returns the milliseconds that the function may still work in the given call. */
function timeLeft(invocation: Invocation | undefined): number {
  return (invocation?.getRemainingTimeInMillis?.() ?? Infinity) - reserveInMilliseconds;
}

/** Returns the clock to use in a call of a function. Default: the system clock. */
export function clockOf(invocation: Invocation | undefined): Clock {
  return invocation?.clock ?? systemClock;
}

/**
 * Returns the deadline of a call of a function: 5 seconds from now, or less if the function's time limit is closer.
 * @param retryTime the milliseconds during which conflicts are retried. Default: until the deadline
 */
export function deadlineOfInvocation(invocation: Invocation | undefined, retryTime?: number): Deadline {
  const functionTime = Math.max(0, timeLeft(invocation));
  return new Deadline(maxTimeInMilliseconds, clockOf(invocation), { retryTime, functionTime });
}

/**
 * Returns how long a function may wait before its last operation, in milliseconds. The last operation has a deadline of 5
 * seconds.
 */
export function longestWaitOf(invocation: Invocation | undefined): number {
  return Math.max(0, timeLeft(invocation) - maxTimeInMilliseconds);
}

/** A clock that tells the time and can wait, in milliseconds. Tests have clocks of their own. */
export interface Clock {
  /** Returns the time of the clock, in milliseconds since the Unix epoch. */
  now: () => number;
  wait: (milliseconds: number) => Promise<void>;
  /**
   * Returns a time of the clock that never goes back, even if the time of the machine is set: the milliseconds since some
   * moment. Default: `now`.
   */
  steady?: () => number;
}

/** The clock of the machine, which everything but tests uses. */
export const systemClock: Clock = {
  now: () => Date.now(),
  wait: (milliseconds) => wait(milliseconds),
  steady: () => performance.now(),
};

/** Returns the time of a clock in a form that never goes back, in milliseconds since some moment. */
export function steadyTimeOf(clock: Clock): number {
  return clock.steady?.() ?? clock.now();
}

/** Returns the present time by a clock as RFC 3339, UTC, with milliseconds. */
export function timestampOf(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}

/** A clock that can set timers besides telling the time. */
export interface TimerClock extends Clock {
  /** Calls `callback` after a time. Returns a function that cancels the timer, and does nothing once it has fired. */
  setTimer: (milliseconds: number, callback: () => void) => () => void;
}

/** The longest delay of a timer of Node, in milliseconds (24 days). */
const longestInMilliseconds = 2 ** 31 - 1;

/** The clock of the machine, with timers of up to 24 days. */
export const systemTimerClock: TimerClock = {
  ...systemClock,
  setTimer: (milliseconds, callback) => {
    const timer = setTimeout(callback, Math.min(milliseconds, longestInMilliseconds));
    return () => clearTimeout(timer);
  },
};

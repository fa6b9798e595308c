import type { Context } from 'aws-lambda';
import { systemClock, type Clock } from './clock.ts';
import { Deadline, maxTimeInMilliseconds } from './deadline.ts';

/** The part of Lambda's context that the service reads. Only tests and the one-machine stack pass a clock. */
export interface Invocation extends Partial<Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>> {
  clock?: Clock;
  /** Aborted when the service is about to stop. Waits end then. */
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
 * Returns a deadline of 5 seconds from now, or less if the function's time limit is closer.
 * @param retryTime the milliseconds during which conflicts are retried. Default: until the deadline.
 */
export function deadlineOfInvocation(invocation: Invocation | undefined, retryTime?: number): Deadline {
  const functionTime = Math.max(0, timeLeft(invocation));
  return new Deadline(maxTimeInMilliseconds, clockOf(invocation), { retryTime, functionTime });
}

/** Returns the milliseconds that an invocation may wait before its last operation, which has a deadline of 5 seconds. */
export function longestWaitOf(invocation: Invocation | undefined): number {
  return Math.max(0, timeLeft(invocation) - maxTimeInMilliseconds);
}

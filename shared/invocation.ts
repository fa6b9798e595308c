import type { Context } from 'aws-lambda';
import { systemClock, type Clock } from './clock.ts';
import { Deadline, maxTimeInMilliseconds } from './deadline.ts';

/** The part of Lambda's context that the service reads. Only tests and the one-machine stack pass a clock. */
export interface Invocation extends Partial<Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>> {
  clock?: Clock;
}

/** Kept free for writing the response and the log. */
const reserveInMilliseconds = 500;

export function clockOf(invocation: Invocation | undefined): Clock {
  return invocation?.clock ?? systemClock;
}

/**
 * Returns a deadline of 5 seconds from now, or less if the function's time limit is closer.
 * @param retryTime the milliseconds during which conflicts are retried. Default: until the deadline.
 */
export function deadlineOfInvocation(invocation: Invocation | undefined, retryTime?: number): Deadline {
  const left = (invocation?.getRemainingTimeInMillis?.() ?? Infinity) - reserveInMilliseconds;
  return new Deadline(Math.max(0, Math.min(maxTimeInMilliseconds, left)), clockOf(invocation), retryTime);
}

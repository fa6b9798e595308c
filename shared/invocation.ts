import type { Context } from 'aws-lambda';
import { systemClock, type Clock } from './clock.ts';
import { Deadline, longestInMilliseconds } from './deadline.ts';

/** The part of Lambda's context that the service reads. Lambda has no clock: tests and the one-machine stack may pass one. */
export interface Invocation extends Partial<Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>> {
  clock?: Clock;
}

/** Left over for writing the answer and the log. */
const reserveInMilliseconds = 500;

export function clockOf(invocation: Invocation | undefined): Clock {
  return invocation?.clock ?? systemClock;
}

/** A deadline that begins now: a few seconds, or less if the function ends before. */
export function deadlineOf(invocation: Invocation | undefined): Deadline {
  const left = (invocation?.getRemainingTimeInMillis?.() ?? Infinity) - reserveInMilliseconds;
  return new Deadline(Math.max(0, Math.min(longestInMilliseconds, left)), clockOf(invocation));
}

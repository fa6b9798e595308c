import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';
import type { Clock } from '../../shared/clock.ts';
import { limitsOf } from './function-limits.ts';
import { limitConcurrency, type RunLimited } from './limit-concurrency.ts';
import { systemTimerClock, type TimerClock } from '../../shared/timer-clock.ts';

/** Invokes a function by its name, which is its path below functions/, and returns its result. */
export type InvokeFunction = (name: string, event: unknown) => Promise<unknown>;

/** Lambda's context without its deprecated callbacks, with the clock of the stack and the signal that it is about to stop. */
type FunctionContext = Omit<Context, 'done' | 'fail' | 'succeed'> & { clock: Clock; draining?: AbortSignal };
type Handler = (event: unknown, context: FunctionContext) => unknown;
export type LoadHandler = (name: string) => Promise<Handler>;

/** The event is larger than Lambda accepts. */
export class RequestTooLargeError extends Error {
  override readonly name = 'RequestTooLargeException';
}

/** The function exceeded its timeout. Its caller never sees a later result. */
export class FunctionTimeoutError extends Error {
  override readonly name = 'Sandbox.Timedout';
}

export interface LocalFunctionsOptions {
  /** Loads a function's handler. Default: imports it from the function's file. */
  load?: LoadHandler;
  /** Default: the system clock. */
  clock?: TimerClock;
  /** Aborted when the stack is about to stop. */
  draining?: AbortSignal;
}

const largestPayloadInBytes = 6 * 1024 * 1024;

/**
 * Calls handlers as Lambda does: events and results are JSON of at most 6 MiB, the context is Lambda's, and a call fails after
 * the function's timeout. Invocations beyond the function's limit wait in a queue. Their timeout starts when they leave it.
 */
export function localFunctions(options: LocalFunctionsOptions = {}): InvokeFunction {
  const { load = importHandler, clock = systemTimerClock, draining } = options;
  const limited = new Map<string, RunLimited>();
  const limitedRunOf = (name: string): RunLimited => {
    const known = limited.get(name) ?? limitConcurrency(limitsOf(name).concurrency);
    limited.set(name, known);
    return known;
  };
  return async (name, event) => {
    const payload = JSON.stringify(event);
    if (Buffer.byteLength(payload) > largestPayloadInBytes) throw new RequestTooLargeError(`${name} received more than 6 MiB.`);
    const handler = await load(name);
    const answer = await limitedRunOf(name)(() => run(name, handler, JSON.parse(payload), { clock, draining }));
    const result = JSON.stringify(answer ?? null);
    if (Buffer.byteLength(result) > largestPayloadInBytes) {
      throw Object.assign(new Error(`${name} answered with more than 6 MiB.`), { name: 'Function.ResponseSizeTooLarge' });
    }
    return JSON.parse(result) as unknown;
  };
}

export async function importHandler(name: string): Promise<Handler> {
  const file = new URL(`../../functions/${name}.ts`, import.meta.url).href;
  const { handler } = (await import(/* @vite-ignore */ file)) as { handler: Handler };
  return handler;
}

interface Surroundings {
  clock: TimerClock;
  draining: AbortSignal | undefined;
}

async function run(name: string, handler: Handler, event: unknown, { clock, draining }: Surroundings): Promise<unknown> {
  const milliseconds = limitsOf(name).timeoutInSeconds * 1_000;
  const late = Promise.withResolvers<never>();
  const cancel = clock.setTimer(milliseconds, () =>
    late.reject(new FunctionTimeoutError(`${name} took longer than ${milliseconds / 1_000} s.`)),
  );
  try {
    const context = { ...contextOf(name, milliseconds, clock), ...(draining ? { draining } : {}) };
    return await Promise.race([handler(event, context), late.promise]);
  } finally {
    cancel();
  }
}

function contextOf(functionName: string, timeoutInMilliseconds: number, clock: Clock): FunctionContext {
  const endsAt = clock.now() + timeoutInMilliseconds;
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:local:000000000000:function:${functionName}`,
    memoryLimitInMB: '512',
    awsRequestId: randomUUID(),
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: 'local',
    getRemainingTimeInMillis: () => endsAt - clock.now(),
    clock,
  };
}

import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';
import type { Clock } from '../../shared/clock.ts';
import { limitsOf } from './function-limits.ts';
import { takeTurns, type TakeTurn } from './take-turns.ts';
import { systemTimerClock, type TimerClock } from './timer-clock.ts';

/** Invokes a function by its name, its file below functions/, and returns what it answered. */
export type InvokeFunction = (name: string, event: unknown) => Promise<unknown>;

/** Lambda's context without its old ways of ending a function, and with the clock of the stack. */
type FunctionContext = Omit<Context, 'done' | 'fail' | 'succeed'> & { clock: Clock };
type Handler = (event: unknown, context: FunctionContext) => unknown;
export type LoadHandler = (name: string) => Promise<Handler>;

/** The event is larger than Lambda takes. */
export class RequestTooLargeError extends Error {
  override readonly name = 'RequestTooLargeException';
}

/** The function took longer than it may. What it still does has no effect on its caller. */
export class FunctionTimeoutError extends Error {
  override readonly name = 'Sandbox.Timedout';
}

export interface LocalFunctionsOptions {
  /** Finds a function's handler. Default: the one that its file exports. */
  load?: LoadHandler;
  /** Default: the system's. */
  clock?: TimerClock;
}

const largestPayloadInBytes = 6 * 1024 * 1024;

/**
 * Calls handlers as Lambda does: events and results go through JSON and are at most 6 MiB, the context is Lambda's, and a
 * function ends after its timeout. Invocations beyond the function's limit wait their turn; their time begins with it.
 */
export function localFunctions({ load = importHandler, clock = systemTimerClock }: LocalFunctionsOptions = {}): InvokeFunction {
  const turns = new Map<string, TakeTurn>();
  const turnOf = (name: string): TakeTurn => {
    const known = turns.get(name) ?? takeTurns(limitsOf(name).atOnce);
    turns.set(name, known);
    return known;
  };
  return async (name, event) => {
    const payload = JSON.stringify(event);
    if (Buffer.byteLength(payload) > largestPayloadInBytes) throw new RequestTooLargeError(`${name} was given more than 6 MiB.`);
    const handler = await load(name);
    const answer = await turnOf(name)(() => run(name, handler, JSON.parse(payload), clock));
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

async function run(name: string, handler: Handler, event: unknown, clock: TimerClock): Promise<unknown> {
  const milliseconds = limitsOf(name).timeoutInSeconds * 1_000;
  const late = Promise.withResolvers<never>();
  const cancel = clock.setTimer(milliseconds, () =>
    late.reject(new FunctionTimeoutError(`${name} took longer than ${milliseconds / 1_000} s.`)),
  );
  try {
    return await Promise.race([handler(event, contextOf(name, milliseconds, clock)), late.promise]);
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

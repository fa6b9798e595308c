import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';
import { routes } from '../../shared/endpoints/endpoints.ts';
import { tasks, schedules } from '../../shared/tasks/tasks.ts';
import type { Uses } from '../../shared/runtime/uses.ts';
import { localWaits } from '../machine/environment.ts';
import { type Clock, steadyTimeOf, systemTimerClock, type TimerClock } from '../../shared/runtime/deadline.ts';

/** Invokes a function by its name, which is its path below functions/, and returns its result. */
export type InvokeFunction = (name: string, event: unknown) => Promise<unknown>;

/**
 * The context of a function's invocation: Lambda's context without its deprecated callbacks, with the clock of the stack and the
 * signal that the stack is about to stop.
 */
type FunctionContext = Omit<Context, 'done' | 'fail' | 'succeed'> & { clock: Clock; draining?: AbortSignal };
type Handler = (event: unknown, context: FunctionContext) => unknown;
export type LoadHandler = (name: string) => Promise<Handler>;

/** Thrown when the event of an invocation is larger than Lambda accepts. */
export class RequestTooLargeError extends Error {
  override readonly name = 'RequestTooLargeException';
}

/** Thrown when a function exceeds its timeout. The caller never sees a later result of the function. */
export class FunctionTimeoutError extends Error {
  override readonly name = 'Sandbox.Timedout';
}

export interface LocalFunctionsOptions {
  /** Loads a function's handler. Default: imports it from the function's file. */
  load?: LoadHandler;
  /** The clock of the functions and their timeouts. Default: the system clock. */
  clock?: TimerClock;
  /** A signal to the functions that is aborted when the stack is about to stop. */
  draining?: AbortSignal;
}

const largestPayloadInBytes = 6 * 1024 * 1024;

/**
 * Returns a function that calls handlers as Lambda does: events and results are JSON of at most 6 MiB, the context is Lambda's,
 * and a call fails after the function's timeout. Invocations beyond the function's concurrency wait in a queue. The timeout of an
 * invocation starts when it leaves the queue.
 */
export function localFunctions(options: LocalFunctionsOptions = {}): InvokeFunction {
  const { load = importHandler, clock = systemTimerClock, ...given } = options;
  const limited = new Map<string, RunLimited>();
  const limitedRunOf = (name: string): RunLimited => {
    const known = limited.get(name) ?? limitConcurrency(concurrencyOf(name));
    limited.set(name, known);
    return known;
  };
  return async (name, event) => {
    const payload = JSON.stringify(event);
    if (Buffer.byteLength(payload) > largestPayloadInBytes) throw new RequestTooLargeError(`${name} received more than 6 MiB.`);
    const handler = await load(name);
    const answer = await limitedRunOf(name)(() => run(name, handler, JSON.parse(payload), { clock, ...given }));
    const result = JSON.stringify(answer ?? null);
    if (Buffer.byteLength(result) > largestPayloadInBytes) {
      throw Object.assign(new Error(`${name} answered with more than 6 MiB.`), { name: 'Function.ResponseSizeTooLarge' });
    }
    return JSON.parse(result) as unknown;
  };
}

const imported = new Map<string, Handler>();

export async function importHandler(name: string): Promise<Handler> {
  const known = imported.get(name);
  if (known) return known;
  const { handler } = (await import(/* @vite-ignore */ `../../functions/${name}.ts`)) as { handler: Handler };
  imported.set(name, handler);
  return handler;
}

type Surroundings = Pick<FunctionContext, 'draining'> & { clock: TimerClock };

async function run(name: string, handler: Handler, event: unknown, { clock, ...given }: Surroundings): Promise<unknown> {
  const { timeoutInSeconds = endpointTimeoutInSeconds } = known.get(name) ?? {};
  const late = Promise.withResolvers<never>();
  const cancel = clock.setTimer(timeoutInSeconds * 1_000, () =>
    late.reject(new FunctionTimeoutError(`${name} took longer than ${timeoutInSeconds} s.`)),
  );
  try {
    const context = { ...contextOf(name, timeoutInSeconds * 1_000, clock), ...given };
    return await Promise.race([handler(event, context), late.promise]);
  } finally {
    cancel();
  }
}

function contextOf(functionName: string, timeoutInMilliseconds: number, clock: Clock): FunctionContext {
  const endsAt = steadyTimeOf(clock) + timeoutInMilliseconds;
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:local:000000000000:function:${functionName}`,
    memoryLimitInMB: '512',
    awsRequestId: randomUUID(),
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: 'local',
    getRemainingTimeInMillis: () => endsAt - steadyTimeOf(clock),
    clock,
  };
}

/**
 * The highest number of invocations at the same time of a function that changes data. Changes of one kind often contend for one
 * item. On two cores at a load of 15, the slowest of 105 links to one computation took 1 s with two at a time and 4 s with four,
 * and reached its deadline of 5 s with eight.
 */
const concurrencyOfChanges = 3;
const concurrencyOfReads = 16;

/** The highest number of calls of a scheduled task at the same time. Two calls would do the same work twice. */
const concurrencyOfScheduled = 1;
const scheduled = new Set<string>(schedules.map(({ name }) => name));

const followsTable = tasks.find(({ trigger }) => trigger === 'table stream')?.name;

/** The time in seconds that API Gateway waits for the function of an endpoint. */
const endpointTimeoutInSeconds = 30;

const functions: readonly { name: string; uses: Uses; waits?: boolean; timeoutInSeconds?: number }[] = [...routes, ...tasks];
const known = new Map(functions.map((each) => [each.name, each]));

/**
 * Returns the highest number of invocations of a function at the same time, like reserved concurrency. On one machine, all functions
 * share the processors.
 */
function concurrencyOf(name: string): number {
  const { uses = {}, waits = false } = known.get(name) ?? {};
  if (scheduled.has(name)) return concurrencyOfScheduled;
  if (name === followsTable) return concurrencyOfReads; // a call for each list, which goes on for seconds
  if (waits) return localWaits.perStage + concurrencyOfReads; // a request that is held keeps no other one from running
  return writes(uses) && !isGet(name) ? concurrencyOfChanges : concurrencyOfReads;
}

function writes({ table = [] }: Uses): boolean {
  return table.some((action) => action === 'UpdateItem' || action === 'PutItem' || action === 'DeleteItem');
}

/**
 * Says whether all requests to a function are GETs. The function of a GET writes only who has read or what the first read makes,
 * so its writes seldom contend.
 */
function isGet(name: string): boolean {
  const methods = routes.filter((route) => route.name === name).map(({ method }) => method);
  return methods.length > 0 && methods.every((method) => method === 'GET');
}

/** Runs the given work as soon as a limit of concurrency allows, and returns its result. */
type RunLimited = <Result>(work: () => Promise<Result>) => Promise<Result>;

/**
 * Returns a function that runs at most `limit` pieces of work at the same time. Further work waits, and starts in the order of
 * its arrival.
 */
function limitConcurrency(limit: number): RunLimited {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < limit) running++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift(); // takes this one's place
      if (next) next();
      else running--;
    }
  };
}

import { AsyncLocalStorage } from 'node:async_hooks';
import type { HttpRequest } from '@smithy/core/transport';
import { openContentStore } from '../../shared/rows/content-store.ts';
import { openExecutions } from '../../shared/lifecycle/executions.ts';
import { Deadline } from '../../shared/runtime/deadline.ts';
import { openTable } from '../../shared/table/table.ts';
import { aroundKms } from '../support/recorded-calls.ts';

/** The faults of a call: it fails without an effect, it fails although it took effect, or the process dies after its effect. */
export const faultKinds = ['fails', 'fails after its effect', 'is the last of its process'] as const;
export type FaultKind = (typeof faultKinds)[number];

export interface FaultAt {
  /** The number of the call, from 0, in the order in which they begin. */
  call: number;
  kind: FaultKind;
}

export interface Attempt {
  /** The calls that began, such as `TransactWriteItems` or `S3 PUT`. */
  calls: string[];
  /** The result of the function; undefined if its process died or it threw. */
  result: unknown;
}

interface Running {
  calls: string[];
  fault: FaultAt | undefined;
  /** A failing request to storage, which fails in every attempt. */
  failing: string | undefined;
  dead: boolean;
  die: () => void;
}

const running = new AsyncLocalStorage<Running>();
const never = new Promise<never>(() => undefined);

/** A call that has no answer in time. */
function noAnswer(): Error {
  return Object.assign(new Error('A fault of the test.'), { name: 'TimeoutError' });
}

async function disturbed<T>(name: string, address: string, call: () => Promise<T>): Promise<T> {
  const attempt = running.getStore();
  if (!attempt) return await call();
  if (attempt.dead) return await never;
  if (attempt.failing === address) throw noAnswer();
  const number = attempt.calls.push(name) - 1;
  const { fault } = attempt;
  if (fault?.call !== number) return await call();
  if (address !== '') attempt.failing = address;
  if (fault.kind !== 'fails') await call();
  if (fault.kind !== 'is the last of its process') throw noAnswer();
  attempt.dead = true;
  attempt.die();
  return await never;
}

/** Puts itself before every call that functions make to AWS from now on. The functions' environment must be set. */
export function disturbCalls(): void {
  disturbClient(openTable(() => new Deadline()).document);
  disturbClient(openExecutions(() => new Deadline()).client);
  aroundKms((action, call) => disturbed(action, '', call));
  // Behind the retries and behind the presigning of links, which is no call.
  openContentStore(() => new Deadline()).client.middlewareStack.add(
    (next) => (sent) => {
      const { method, path } = sent.request as HttpRequest;
      return disturbed(`S3 ${method}`, `${method} ${path}`, () => next(sent));
    },
    { step: 'deserialize' },
  );
}

/** Puts itself before every call of a client from now on. */
export function disturbClient({ middlewareStack }: { middlewareStack: unknown }): void {
  const stack = middlewareStack as {
    add: (
      middleware: (
        next: (sent: unknown) => Promise<unknown>,
        context: { commandName?: string },
      ) => (sent: unknown) => Promise<unknown>,
      options: object,
    ) => void;
  };
  stack.add(
    (next, { commandName = '' }) =>
      (sent) =>
        disturbed(commandName.replace(/Command$/, ''), '', () => next(sent)),
    { step: 'initialize' },
  );
}

/** Calls a function with at most one fault. Returns when it ends or when its process dies. */
export async function attempt(work: () => Promise<unknown>, fault?: FaultAt): Promise<Attempt> {
  const death = Promise.withResolvers<undefined>();
  const state: Running = { calls: [], fault, failing: undefined, dead: false, die: () => death.resolve(undefined) };
  const ended = running.run(state, work).catch(() => undefined);
  const result = await Promise.race([ended, death.promise]);
  return { calls: state.calls, result };
}

import { routes } from '../../shared/endpoints/endpoints.ts';
import { tasks } from '../../shared/tasks/tasks.ts';
import type { Uses } from '../../shared/uses.ts';
import { schedules } from '../../shared/tasks/schedules.ts';
import { localWaits } from '../local-environment.ts';

interface FunctionLimits {
  /** The highest number of invocations at the same time, like reserved concurrency. */
  concurrency: number;
  timeoutInSeconds: number;
}

/**
 * Changes of one kind often contend for one item, and each retry waits longer than new requests do. On two cores at a load of
 * 15, the slowest of 105 links to one computation took 1 s with two at a time and 4 s with four, and reached its deadline of
 * 5 s with eight. With two, creates wait for the second that a fold of a busy list takes: 150 changes a second had a p95 of 991 ms
 * with two at a time, 48 ms with three and 114 ms with four (`npm run bench:busy`).
 */
const concurrencyOfChanges = 3;
const concurrencyOfReads = 16;

/** Two calls of a scheduled task would do the same work twice. */
const concurrencyOfScheduled = 1;
const scheduled = new Set<string>(schedules.map(({ name }) => name));

/** How long API Gateway waits for the function of an endpoint. */
const endpointTimeoutInSeconds = 30;

const functions: readonly { name: string; uses: Uses; waits?: boolean; timeoutInSeconds?: number }[] = [...routes, ...tasks];
const known = new Map(functions.map((each) => [each.name, each]));

/** Returns the limits of a function on one machine, where all functions share the processors. */
export function limitsOf(name: string): FunctionLimits {
  const { uses = {}, waits = false, timeoutInSeconds = endpointTimeoutInSeconds } = known.get(name) ?? {};
  return { concurrency: concurrencyOf(name, uses, waits), timeoutInSeconds };
}

function concurrencyOf(name: string, uses: Uses, waits: boolean): number {
  if (scheduled.has(name)) return concurrencyOfScheduled;
  if (waits) return localWaits.perStage + concurrencyOfReads; // a request that is held keeps no other one from running
  return writes(uses) && !isGet(name) ? concurrencyOfChanges : concurrencyOfReads;
}

function writes({ table = [] }: Uses): boolean {
  return table.some((action) => action === 'UpdateItem' || action === 'PutItem' || action === 'DeleteItem');
}

/** Whether all requests to it are GETs. They write who has read, or what the first of them makes, and seldom contend. */
function isGet(name: string): boolean {
  const methods = routes.filter((route) => route.name === name).map(({ method }) => method);
  return methods.length > 0 && methods.every((method) => method === 'GET');
}

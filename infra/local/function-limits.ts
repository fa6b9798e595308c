import { routes } from '../../shared/endpoints/endpoints.ts';
import { tasks } from '../../shared/tasks/tasks.ts';
import type { Uses } from '../../shared/uses.ts';

interface FunctionLimits {
  /** How many invocations run at the same time, as with reserved concurrency. */
  atOnce: number;
  timeoutInSeconds: number;
}

/**
 * Changes of one kind often contend for one item, and each retry waits longer than the newcomers do. With two at a time the
 * slowest of 105 links to one computation took 1 s on two cores at a load of 15; with four it took 4 s, with eight it met its
 * deadline of 5 s.
 */
const changesAtOnce = 2;
const readsAtOnce = 16;

/** API Gateway waits for the function of an endpoint this long. */
const endpointTimeoutInSeconds = 30;

const functions: readonly { name: string; uses: Uses; timeoutInSeconds?: number }[] = [...routes, ...tasks];
const known = new Map(functions.map((each) => [each.name, each]));

/** How a function may run on one machine, whose processors all functions share. */
export function limitsOf(name: string): FunctionLimits {
  const { uses = {}, timeoutInSeconds = endpointTimeoutInSeconds } = known.get(name) ?? {};
  return { atOnce: isChange(uses) ? changesAtOnce : readsAtOnce, timeoutInSeconds };
}

function isChange({ table = [] }: Uses): boolean {
  return table.some((action) => action === 'UpdateItem' || action === 'PutItem' || action === 'DeleteItem');
}

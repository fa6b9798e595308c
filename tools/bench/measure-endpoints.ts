import { randomUUID } from 'node:crypto';
import { localFunctions } from '../../local/functions/local-functions.ts';
import { routes, type RouteName } from '../../shared/endpoints/endpoints.ts';
import { takesKey, type Route } from '../../shared/http/route.ts';
import { tasks } from '../../shared/tasks/tasks.ts';
import type { Uses } from '../../shared/runtime/uses.ts';
import { startStores } from '../../test/support/builders-store.ts';
import { httpEvent } from '../../test/support/http-event.ts';
import { testClock } from '../../test/support/test-clock.ts';
import { setTestEnvironment } from '../../test/support/test-environment.ts';
import { fillWorld } from './bench-world.ts';
import { endpointCases, longestWaits } from './endpoint-cases.ts';
import { taskCases } from './task-cases.ts';
import { printTable } from './print-table.ts';

/** The cost of one call of a function of the service at the table. */
export interface Measurement {
  /** The name of the function: its file in functions/ without the extension. */
  name: string;
  /** The number of the endpoint. Undefined for tasks and public endpoints. */
  endpoint: number | undefined;
  case: string;
  /** Says whether the request is the first one with its Idempotency-Key or a later one. Undefined: the request has no such key. */
  key?: 'first' | 'repeat';
  roundTrips: number;
  calls: number;
  readUnits: number;
  writeUnits: number;
}

/**
 * Measures the handler of every endpoint and task, in each of its cases, on an embedded DynamoDB engine behind the recording
 * proxy. Units are DynamoDB's ConsumedCapacity, for the small items of the cases: at most 1 KB. Call the function once per
 * process, because functions of the service keep their clients.
 * @throws Error if a case fails
 */
export async function measureEndpoints(): Promise<Measurement[]> {
  const stores = await startStores({ latencyInMilliseconds: 5 });
  try {
    setTestEnvironment(stores.endpoints);
    const invoke = localFunctions({ clock: testClock({ skipsWaits: true }) });
    const world = await fillWorld(stores);
    const measurements: Measurement[] = [];
    const measure = async (
      name: string,
      endpoint: number | undefined,
      what: string,
      event: unknown,
      key?: Measurement['key'],
    ): Promise<Measurement> => {
      stores.proxy.reset();
      const answer = (await invoke(name, event)) as { statusCode?: number; body?: string };
      if ((answer.statusCode ?? 200) >= 300) throw new Error(`${name}, ${what}: ${answer.body ?? ''}`);
      const { proxy } = stores;
      const units = { readUnits: proxy.readUnits(), writeUnits: proxy.writeUnits() };
      return {
        name,
        endpoint,
        case: what,
        ...(key ? { key } : {}),
        roundTrips: proxy.sequentialCalls(),
        calls: proxy.calls.length,
        ...units,
      };
    };
    // Maintenance is measured first, before other cases create work for it.
    for (const { name, uses } of tasks.toReversed()) {
      for (const [what, prepare] of Object.entries(taskCases[name])) {
        const once = async () => [await measure(name, undefined, what, await prepare(world))];
        measurements.push(...(await withoutLooks(uses, once)));
      }
    }
    const byName = new Map(routes.map((route) => [route.name, route]));
    const cases = [...byName.values()].flatMap((route: Route) =>
      Object.entries({ ...endpointCases[route.name as RouteName], ...longestWaits[route.name] }).map(([what, prepare]) => ({
        route,
        what,
        prepare,
      })),
    );
    for (const { route, what, prepare } of cases) {
      const once = async () => [
        await measure(route.name, route.endpoint, what, httpEvent(route.method, world.domain, await prepare(world))),
      ];
      measurements.push(...(await withoutLooks(route.uses, once)));
    }
    for (const { route, what, prepare } of cases.filter(({ route }) => takesKey(route))) {
      const twice = async () => {
        const key = { 'idempotency-key': randomUUID() };
        const event = httpEvent(route.method, world.domain, await prepare(world), key);
        return [
          await measure(route.name, route.endpoint, what, event, 'first'),
          await measure(route.name, route.endpoint, what, event, 'repeat'),
        ];
      };
      measurements.push(...(await withoutLooks(route.uses, twice)));
    }
    return measurements.sort((a, b) => (a.endpoint ?? last) - (b.endpoint ?? last));
  } finally {
    await stores.stop();
  }
}

/**
 * Measures a case twice and returns the cheaper result. One change of a list in sixteen also looks at the list's log. Two changes
 * in a row never both look, so the result with fewer calls is without a look.
 */
async function withoutLooks({ table = [] }: Uses, work: () => Promise<Measurement[]>): Promise<Measurement[]> {
  if (!table.includes('UpdateItem')) return work();
  const [first, second] = [await work(), await work()];
  // On a busy machine, the first call of several at once may end before the last one is sent.
  const costOf = (measured: Measurement[]) => measured.reduce((sum, { calls, roundTrips }) => sum + calls * 100 + roundTrips, 0);
  return costOf(first) <= costOf(second) ? first : second;
}

const last = 100;

if (import.meta.main) {
  console.log('\nDynamoDB per call: sequential round trips, calls, read and write units\n');
  printTable((await measureEndpoints()).map(({ endpoint, ...measured }) => ({ '#': endpoint ?? '', ...measured })));
}

import { randomUUID } from 'node:crypto';
import { localFunctions } from '../../local/functions/local-functions.ts';
import { routes, type RouteName } from '../../shared/endpoints/endpoints.ts';
import { takesKey, type Route } from '../../shared/http/route.ts';
import { tasks } from '../../shared/tasks/tasks.ts';
import type { Uses } from '../../shared/runtime/uses.ts';
import { startStores } from '../support/builders-store.ts';
import { httpEvent } from '../support/http-event.ts';
import { testClock } from '../support/test-clock.ts';
import { setTestEnvironment } from '../support/test-environment.ts';
import { fillWorld } from './bench-world.ts';
import { endpointCases, longestWaits } from './endpoint-cases.ts';
import { taskCases } from './task-cases.ts';

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

/** A call of a function, once or with each kind of an Idempotency-Key. */
interface Case {
  name: string;
  uses: Uses;
  endpoint?: number | undefined;
  what: string;
  keys?: readonly Measurement['key'][];
  /** Creates what the call needs, and returns its event. */
  prepare: () => Promise<unknown>;
}

/**
 * Measures the handler of every endpoint and task, in each of its cases, on an embedded DynamoDB engine behind the recording
 * proxy. Units are DynamoDB's ConsumedCapacity, for the small items of the cases: at most 1 KB. Call the function once per
 * process, because functions of the service keep their clients.
 * @throws Error if a case fails
 */
export async function measureEndpoints(): Promise<Measurement[]> {
  const stores = await startStores({ latencyInMilliseconds: 5, bySdk: true });
  try {
    setTestEnvironment(stores.endpoints);
    const invoke = localFunctions({ clock: testClock({ skipsWaits: true }) });
    const world = await fillWorld(stores);
    const measurements: Measurement[] = [];
    const measure = async ({ name, uses, endpoint, what, keys = [undefined], prepare }: Case) => {
      const once = async () => {
        const event = await prepare();
        const measured: Measurement[] = [];
        for (const key of keys) {
          stores.proxy.reset();
          const answer = (await invoke(name, event)) as { statusCode?: number; body?: string };
          if ((answer.statusCode ?? 200) >= 300) throw new Error(`${name}, ${what}: ${answer.body ?? ''}`);
          measured.push({ name, endpoint, case: what, ...(key ? { key } : {}), ...costIn(stores.proxy) });
        }
        return measured;
      };
      measurements.push(...(await withoutLooks(uses, once)));
    };
    // Maintenance is measured first, before other cases create work for it.
    for (const { name, uses } of tasks.toReversed()) {
      for (const [what, prepare] of Object.entries(taskCases[name])) {
        await measure({ name, uses, what, prepare: async () => await prepare(world) });
      }
    }
    const cases = [...new Map(routes.map((route) => [route.name, route])).values()].flatMap((route: Route) =>
      Object.entries({ ...endpointCases[route.name as RouteName], ...longestWaits[route.name] }).map(([what, prepare]) => ({
        ...route,
        what,
        prepare: async (headers?: Record<string, string>) => httpEvent(route.method, world.domain, await prepare(world), headers),
      })),
    );
    for (const each of cases) await measure({ ...each, prepare: () => each.prepare() });
    for (const each of cases.filter(takesKey)) {
      await measure({ ...each, keys: ['first', 'repeat'], prepare: () => each.prepare({ 'idempotency-key': randomUUID() }) });
    }
    return measurements.sort((a, b) => (a.endpoint ?? last) - (b.endpoint ?? last));
  } finally {
    await stores.stop();
  }
}

function costIn(proxy: Awaited<ReturnType<typeof startStores>>['proxy']) {
  return {
    roundTrips: proxy.sequentialCalls(),
    calls: proxy.calls.length,
    readUnits: proxy.readUnits(),
    writeUnits: proxy.writeUnits(),
  };
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
  console.table((await measureEndpoints()).map(({ endpoint, ...measured }) => ({ '#': endpoint ?? '', ...measured })));
}

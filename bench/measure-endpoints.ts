import { randomUUID } from 'node:crypto';
import { setEnvironment } from '../infra/local/local-environment.ts';
import { localFunctions } from '../infra/local/local-functions.ts';
import { routes, type RouteName } from '../shared/endpoints/endpoints.ts';
import { takesKey, type Route } from '../shared/http/route.ts';
import { tasks } from '../shared/tasks/tasks.ts';
import { startStores } from '../test/support/builders-store.ts';
import { skippingClock } from '../test/support/skipping-clock.ts';
import { fillWorld } from './bench-world.ts';
import { endpointCases, longestWaits, type EndpointRequest } from './endpoint-cases.ts';
import { taskCases } from './task-cases.ts';

/** The cost of one call of a function at the table. */
export interface Measurement {
  /** The function's file in functions/. */
  name: string;
  /** The number of the endpoint. Undefined for tasks and public endpoints. */
  endpoint: number | undefined;
  case: string;
  /** Whether the request has an Idempotency-Key, and is the first with it. Undefined: it has none. */
  key?: 'first' | 'repeat';
  roundTrips: number;
  calls: number;
  readUnits: number;
  writeUnits: number;
}

/**
 * Calls the handler of every endpoint and task, in each of its cases, on an embedded engine behind the recording proxy. Units
 * are DynamoDB's ConsumedCapacity, for the small items of the cases: at most 1 KB. Call it once per process, because functions
 * keep their clients.
 * @throws Error if a case fails
 */
export async function measureEndpoints(): Promise<Measurement[]> {
  const stores = await startStores({ latencyInMilliseconds: 5 });
  try {
    setEnvironment(
      stores.endpoints,
      { acceptInSeconds: 300, silenceInSeconds: 120, runInSeconds: 86_400, stopInSeconds: 120 },
      'SILENT',
    );
    const invoke = localFunctions({ clock: skippingClock() });
    const world = await fillWorld(stores);
    const measurements: Measurement[] = [];
    const measure = async (
      name: string,
      endpoint: number | undefined,
      what: string,
      event: unknown,
      key?: Measurement['key'],
    ) => {
      stores.proxy.reset();
      const answer = (await invoke(name, event)) as { statusCode?: number; body?: string };
      if ((answer.statusCode ?? 200) >= 300) throw new Error(`${name}, ${what}: ${answer.body ?? ''}`);
      const { proxy } = stores;
      const units = { readUnits: proxy.readUnits(), writeUnits: proxy.writeUnits() };
      measurements.push({
        name,
        endpoint,
        case: what,
        ...(key ? { key } : {}),
        roundTrips: proxy.sequentialCalls(),
        calls: proxy.calls.length,
        ...units,
      });
    };
    // Maintenance is measured first, before other cases create work for it.
    for (const { name } of tasks.toReversed()) {
      for (const [what, prepare] of Object.entries(taskCases[name])) await measure(name, undefined, what, await prepare(world));
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
      await measure(route.name, route.endpoint, what, httpEvent(route.method, world.domain, await prepare(world)));
    }
    for (const { route, what, prepare } of cases.filter(({ route }) => takesKey(route))) {
      const key = { 'idempotency-key': randomUUID() };
      const event = httpEvent(route.method, world.domain, await prepare(world), key);
      await measure(route.name, route.endpoint, what, event, 'first');
      await measure(route.name, route.endpoint, what, event, 'repeat');
    }
    return measurements.sort((a, b) => (a.endpoint ?? last) - (b.endpoint ?? last));
  } finally {
    await stores.stop();
  }
}

const last = 100;

/** Returns the fields of API Gateway's event (payload format 2.0) that handlers read, for a user with all permissions. */
export function httpEvent(
  method: string,
  domain: string,
  { path, query, body, by = 'alice' }: EndpointRequest,
  headers: Record<string, string> = {},
) {
  return {
    headers: { 'content-type': 'application/json', ...headers },
    pathParameters: { domainID: domain, ...path },
    queryStringParameters: query,
    requestContext: {
      requestId: randomUUID(),
      http: { method },
      authorizer: { jwt: { claims: { sub: by, 'cognito:groups': `[${domain}:administrator ${domain}:cvm]` } } },
    },
    isBase64Encoded: false,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
}

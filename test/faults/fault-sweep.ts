import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { fillWorld, type BenchWorld } from '../bench/bench-world.ts';
import { endpointCases } from '../bench/endpoint-cases.ts';
import { taskCases } from '../bench/task-cases.ts';
import { importHandler, type InvokeFunction } from '../../local/functions/local-functions.ts';
import { collectContent } from '../../shared/assets/collect-content.ts';
import { purgeAll } from '../../shared/deletion/purge-all.ts';
import { routes } from '../../shared/endpoints/endpoints.ts';
import { takesKey, type Route } from '../../shared/http/route.ts';
import { deleteContent } from '../../shared/rows/content-store.ts';
import type { Key } from '../../shared/table/keys.ts';
import { deleteItems } from '../../shared/table/writes.ts';
import { tasks } from '../../shared/tasks/tasks.ts';
import { recheckTodo } from '../../shared/todo/follow-changes.ts';
import { contentKeys } from '../support/builders-purge.ts';
import { stageLogOf, startStores, type Stores } from '../support/builders-store.ts';
import { normalized, viewOf } from './domain-view.ts';
import { gatewayCases } from './gateway-cases.ts';
import { moreCases, moreTaskCases } from './more-cases.ts';
import { attempt, disturbCalls, faultKinds, type FaultAt } from './faulty-calls.ts';
import { inconsistencies, scan } from '../support/inconsistencies.ts';
import { httpEvent } from '../support/http-event.ts';
import { testClock } from '../support/test-clock.ts';
import { setTestEnvironment } from '../support/test-environment.ts';

/** A call, made anew in a new world for each fault. */
export interface Subject {
  /** The function and the case, such as `POST runs/start-run` or `POST assets/create-asset, inline`. */
  title: string;
  /** Prepares a world, and returns the call. The client makes the same call until it succeeds. */
  prepare: (world: BenchWorld) => Promise<() => Promise<unknown>>;
}

/** Every case of every endpoint, every task, and every call of the gateway: a new one must have a case, so it is swept by itself. */
export const subjects: Subject[] = [...ofEndpoints(), ...ofTasks(), ...ofGateway()];

function ofEndpoints(): Subject[] {
  return (routes as readonly Route[]).flatMap((route) => {
    const more = moreCases.filter(([name]) => name === route.name).map(([, what, prepare]) => [what, prepare] as const);
    const cases = [...Object.entries(endpointCases[route.name as keyof typeof endpointCases]), ...more];
    return cases.map(([what, prepare]) => ({
      title: titleOf(`${route.method} ${route.name}`, what),
      prepare: async (world) => {
        const headers = takesKey(route) ? { 'idempotency-key': randomUUID() } : {};
        const event = httpEvent(route.method, world.domain, await prepare(world), headers);
        return () => invoke(route.name, event);
      },
    }));
  });
}

function ofTasks(): Subject[] {
  return tasks.flatMap(({ name }) =>
    Object.entries({ ...taskCases[name], ...moreTaskCases[name] }).map(([what, prepare]) => ({
      title: titleOf(name, what),
      prepare: async (world: BenchWorld) => {
        const event = await prepare(world);
        return () => invoke(name, event);
      },
    })),
  );
}

function ofGateway(): Subject[] {
  return Object.entries(gatewayCases).flatMap(([method, cases]) =>
    Object.entries(cases).map(([what, prepare]) => ({
      title: titleOf(`gateway ${method}`, what),
      prepare: async (world: BenchWorld) => {
        const call = await prepare(world);
        return async () => ({ returned: await call() });
      },
    })),
  );
}

function titleOf(name: string, what: string): string {
  return what === '' ? name : `${name}, ${what}`;
}

/** Calls with faults and repeats of each subject, compared with one call without a fault. */
export interface Sweep {
  /** Carries a subject out without a fault. Returns the calls that it makes. */
  undisturbed: (subject: Subject) => Promise<string[]>;
  /** Carries it out with a fault, and repeats it until it succeeds. Returns the differences to the undisturbed course. */
  disturb: (subject: Subject, fault: FaultAt) => Promise<string[]>;
  stop: () => Promise<void>;
}

interface Course {
  calls: string[];
  seen: unknown;
  contradictions: string[];
}

/** Calls a function without a limit of calls at once, because those whose process died never end. */
const invoke: InvokeFunction = async (name, event) => {
  const handler = await importHandler(name);
  return await handler(structuredClone(event), { awsRequestId: randomUUID(), clock: testClock({ skipsWaits: true }) } as never);
};

/** The most times that a read is repeated which a busy machine answers with 503. */
const mostReads = 50;

/** Repeats a read that a busy machine answers with 503. */
const invokePatiently: InvokeFunction = async (name, event) => {
  for (let attempts = 1; ; attempts++) {
    const result = await invoke(name, event);
    if ((result as { statusCode?: number }).statusCode !== 503 || attempts >= mostReads) return result;
  }
};

export async function openSweep(): Promise<Sweep> {
  const stores = await startStores();
  setTestEnvironment(stores.endpoints);
  disturbCalls();
  const expected = new Map<Subject, Course>();
  const undisturbed = async (subject: Subject): Promise<Course> => {
    const known = expected.get(subject) ?? (await course(stores, subject));
    expected.set(subject, known);
    return known;
  };
  return {
    undisturbed: async (subject) => (await undisturbed(subject)).calls,
    disturb: async (subject, fault) => {
      const [should, is] = [await undisturbed(subject), await course(stores, subject, fault)];
      const isSame = isDeepStrictEqual(is.seen, should.seen);
      return [...is.contradictions, ...(isSame ? [] : differences(should.seen, is.seen))];
    },
    stop: stores.stop,
  };
}

const mostAttempts = 5;

async function course(stores: Stores, subject: Subject, fault?: FaultAt): Promise<Course> {
  await empty(stores);
  const world = await fillWorld(stores, 1);
  const call = await subject.prepare(world);
  const first = await attempt(call, fault);
  let { result } = first;
  for (let count = 1; !isSuccess(result); count++) {
    if (count > mostAttempts) throw new Error(`${subject.title} does not succeed: ${JSON.stringify(result)}`);
    ({ result } = await attempt(call));
  }
  // What is done later in any case. A repeat leaves nothing else.
  await purgeAll(stores.table, stores.content);
  await recheckTodo(stores.table, new Date(Date.now() + 60_000).toISOString());
  await collectContent(stores.table, stores.content, new Date(Date.now() + 3 * 3_600_000).toISOString());
  const items = await scan(stores.table);
  return {
    calls: first.calls,
    seen: withoutRepeatedReads(normalized({ answer: shown(result), view: await viewOf(stores, invokePatiently, world.domain) })),
    contradictions: inconsistencies(items),
  };
}

/** Tasks and the gateway's calls return something when they succeed; a thrown error has become undefined. */
function isSuccess(result: unknown): boolean {
  const { statusCode = 200 } = (result ?? { statusCode: 0 }) as { statusCode?: number };
  return statusCode >= 200 && statusCode < 300;
}

function shown(result: unknown): unknown {
  const { statusCode, body = '' } = result as { statusCode?: number; body?: string };
  if (statusCode === undefined) return 'a task or the gateway: it only tells what it did itself';
  const parsed: unknown = body === '' || body.startsWith('<') ? body : JSON.parse(body);
  return { statusCode, body: isSummary(parsed) ? { reports: parsed.accepted + parsed.duplicates } : parsed };
}

/** Endpoint 26 takes no key. A repeat says that its reports are duplicates, as the contract has it. */
function isSummary(body: unknown): body is { accepted: number; duplicates: number } {
  return typeof body === 'object' && body !== null && 'accepted' in body && 'duplicates' in body;
}

/**
 * A GET takes no key. A read of content that is repeated is recorded twice if the first answer was lost after its record, as the
 * contract has it: the service cannot know whether the content arrived.
 */
function withoutRepeatedReads(seen: unknown): unknown {
  return JSON.parse(JSON.stringify(seen), (name, value: unknown) => {
    if (name !== 'content_reads' || !Array.isArray(value)) return value;
    const reads = value as unknown[];
    return reads.filter((read, index) => !isDeepStrictEqual(read, reads[index - 1]));
  }) as unknown;
}

/** Empties the table and the bucket of the log: a log whose table is empty would be restored from its tiles. */
async function empty(stores: Stores): Promise<void> {
  const { store } = stageLogOf(stores);
  await deleteItems(stores.table, (await scan(stores.table)) as unknown as Key[]);
  await Promise.all((await contentKeys(store)).map((key) => deleteContent(store, key)));
}

/** Names the places that differ, with both values. */
function differences(should: unknown, is: unknown, place = ''): string[] {
  if (isDeepStrictEqual(should, is)) return [];
  if (!isNode(should) || !isNode(is)) return [`${place} is ${JSON.stringify(is)}, should be ${JSON.stringify(should)}`];
  return [...new Set([...Object.keys(should), ...Object.keys(is)])].flatMap((key) =>
    differences(should[key], is[key], `${place}/${key}`),
  );
}

function isNode(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Every fault of a subject. */
export function faultsOf(calls: string[]): FaultAt[] {
  return calls.flatMap((_, call) => faultKinds.map((kind) => ({ call, kind })));
}

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { startStack, type Stack } from '../infra/local/stack.ts';
import { startDynamoDbProxy, type DynamoDbProxy } from '../test/support/dynamodb-proxy.ts';
import { callAs, readyComputation, type Call } from '../test/infra/local/ready-computation.ts';
import { printTable } from './print-table.ts';

const watchers = 50;
const eventsOfRun = 60;
const meanPauseInMilliseconds = 500;
const cvm = 'cvm-of-bench';

interface WatchedEvent {
  id: string;
  timestamp: string;
  event_type: string;
}

let proxy: DynamoDbProxy | undefined;
const stack = await startStack({
  port: 0,
  simulator: false,
  intercept: async (endpoints) => {
    proxy = await startDynamoDbProxy(endpoints.dynamoDb, { latencyInMilliseconds: 0 });
    return { ...endpoints, dynamoDb: proxy.endpoint };
  },
});
try {
  const call = callAs(stack.baseUrl, await stack.token('alice', ['d1:administrator', 'd1:cvm']));
  const id = await readyComputation(call);
  await watchRun(call, id);
  await measureWaits(call, id);
} finally {
  await stack.stop();
  await proxy?.stop();
}

/** Lets 50 watchers watch a run of 60 events over HTTP. Prints how long after its record each event arrived. */
async function watchRun(call: Call, id: string): Promise<void> {
  const watching = Array.from({ length: watchers }, () => watch(stack, id));
  await playRun(call, id);
  const seen = await Promise.all(watching);
  const journal = await wholeJournal(call, id);
  const once = seen.filter(({ ids }) => ids.join() === journal.map((event) => event.id).join()).length;
  const delays = seen.flatMap((each) => each.delays).sort((a, b) => a - b);
  const at = (share: number) => Math.round(delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? 0);
  console.log(`\n${watchers} watchers of a run with ${journal.length} events, over HTTP, on one machine\n`);
  printTable([
    {
      'saw every event once': once,
      requests: seen.reduce((sum, { requests }) => sum + requests, 0),
      'p50 ms': at(0.5),
      'p95 ms': at(0.95),
      'p99 ms': at(0.99),
      'longest ms': at(1),
    },
  ]);
  if (once < watchers || at(0.95) > 1_500) process.exitCode = 1;
}

interface Seen {
  ids: string[];
  /** From the record of each event until it arrived, for events of the run. */
  delays: number[];
  requests: number;
}

async function watch({ baseUrl, token }: Stack, id: string): Promise<Seen> {
  const authorization = `Bearer ${await token('bob', ['d1:viewer'])}`;
  const seen: Seen = { ids: [], delays: [], requests: 0 };
  for (let isOver = false; !isOver;) {
    const address = `${baseUrl}/d1/computations/${id}/events?after=${seen.ids.at(-1) ?? ''}&wait=20&limit=100`;
    const askedAt = Date.now();
    const { events } = (await (await fetch(address, { headers: { authorization } })).json()) as { events: WatchedEvent[] };
    const arrivedAt = Date.now();
    seen.requests++;
    seen.ids.push(...events.map((event) => event.id));
    const recent = events.filter(({ timestamp }) => Date.parse(timestamp) >= askedAt - 5_000);
    seen.delays.push(...recent.map(({ timestamp }) => arrivedAt - Date.parse(timestamp)));
    isOver = events.some(({ event_type }) => event_type === 'completed');
  }
  return seen;
}

/** Plays the CVM of a run that reports an event now and then. */
async function playRun(call: Call, id: string): Promise<void> {
  const run_id = (await call('POST', `/d1/computations/${id}/run?cvm=${cvm}`)).body as unknown as string;
  const { body } = await call('GET', `/d1/cvms/${cvm}/commands?wait=20`);
  const [command] = body['commands'] as { id: string }[];
  const report = (fields: Record<string, unknown>) =>
    call('POST', `/d1/cvms/${cvm}/reports`, { reports: [{ id: randomUUID(), run_id, ...fields }] });
  await report({ type: 'accepted', command_id: command?.id });
  for (let number = 0; number < eventsOfRun; number++) {
    await delay(Math.random() * 2 * meanPauseInMilliseconds);
    await report({ type: 'event', event_type: 'Running', status: `Step ${number}` });
  }
  await report({ type: 'event', event_type: 'Complete', status: 'Completed' });
}

async function wholeJournal(call: Call, id: string): Promise<WatchedEvent[]> {
  const { body } = await call('GET', `/d1/computations/${id}/events?limit=100`);
  return (body['events'] as WatchedEvent[]).toReversed();
}

/** Counts what waits of 20 seconds take from the table when nothing happens. */
async function measureWaits(call: Call, id: string): Promise<void> {
  const last = (await wholeJournal(call, id)).at(-1)?.id ?? '';
  const events = `/d1/computations/${id}/events?after=${last}&wait=20`;
  const rows = [];
  for (const [asked, path] of [
    ['23, no filter', events],
    ['23, by event_type', `${events}&event_type=none`],
    ['23, by run_id and from', `${events}&run_id=none&from=2020-01-01T00:00:00Z`],
    ['25', `/d1/cvms/${cvm}/commands?wait=20`],
  ] as const) {
    proxy?.reset();
    const startedAt = performance.now();
    await call('GET', path);
    rows.push({
      asked,
      seconds: Number(((performance.now() - startedAt) / 1000).toFixed(1)),
      calls: proxy?.calls.length ?? 0,
      'read units': proxy?.readUnits() ?? 0,
      'write units': proxy?.writeUnits() ?? 0,
    });
  }
  console.log('\nWaits of 20 seconds in which nothing happens\n');
  printTable(rows);
  if (rows.some((row) => row['read units'] > 25)) process.exitCode = 1;
}

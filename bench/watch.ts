import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { callAs, readyComputation, type Call } from '../test/infra/local/ready-computation.ts';
import { startService } from '../test/infra/local/service-process.ts';
import { measureEndpoints } from './measure-endpoints.ts';
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

await watchRun();
await printWaits();

/** Lets 50 watchers watch a run over HTTP, with the service in its own process. Prints how long after its record each event arrived. */
async function watchRun(): Promise<void> {
  const service = await startService([]);
  try {
    const { baseUrl } = service;
    const [alice, bob] = [await tokenOf(baseUrl, ['d1:administrator', 'd1:cvm']), await tokenOf(baseUrl, ['d1:viewer'])];
    const call = callAs(baseUrl, alice);
    const id = await readyComputation(call);
    const watching = Array.from({ length: watchers }, () => watch(callAs(baseUrl, bob), id));
    await playRun(call, id);
    const seen = await Promise.all(watching);
    const { body } = await call('GET', `/d1/computations/${id}/events?limit=100`);
    printWatchers(seen, (body['events'] as WatchedEvent[]).toReversed());
  } finally {
    await service.end('SIGTERM');
  }
}

function printWatchers(seen: Seen[], journal: WatchedEvent[]): void {
  const once = seen.filter(({ ids }) => ids.join() === journal.map((event) => event.id).join()).length;
  const delays = seen.flatMap((each) => each.delays).sort((a, b) => a - b);
  const at = (share: number) => Math.round(delays[Math.min(delays.length - 1, Math.floor(delays.length * share))] ?? 0);
  console.log(`\n${watchers} watchers of a run with ${journal.length} events, over HTTP, on one machine\n`);
  printTable([
    {
      'saw every event once': once,
      requests: seen.reduce((sum, { requests }) => sum + requests, 0),
      failed: seen.reduce((sum, { failed }) => sum + failed, 0),
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
  /** From the record of each event until it arrived, in milliseconds. Only events that were recorded while watching. */
  delays: number[];
  requests: number;
  failed: number;
}

async function watch(call: Call, id: string): Promise<Seen> {
  const seen: Seen = { ids: [], delays: [], requests: 0, failed: 0 };
  const startedAt = Date.now();
  for (let isOver = false; !isOver;) {
    seen.requests++;
    const { status, body } = await call('GET', `/d1/computations/${id}/events?after=${seen.ids.at(-1) ?? ''}&wait=20&limit=100`);
    if (status !== 200) {
      seen.failed++;
      await delay(1_000);
      continue;
    }
    const events = body['events'] as WatchedEvent[];
    const arrivedAt = Date.now();
    seen.ids.push(...events.map((event) => event.id));
    const times = events.map(({ timestamp }) => Date.parse(timestamp)).filter((time) => time > startedAt);
    seen.delays.push(...times.map((time) => arrivedAt - time));
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

/** Prints what waits in which nothing happens take from the table. */
async function printWaits(): Promise<void> {
  const waits = (await measureEndpoints()).filter((each) => each.case.startsWith('held for 20 s'));
  console.log('\nWaits of 20 seconds in which nothing happens\n');
  printTable(waits.map(({ name, case: what, calls, readUnits, writeUnits }) => ({ name, what, calls, readUnits, writeUnits })));
  if (waits.length === 0 || waits.some(({ readUnits }) => readUnits > 25)) process.exitCode = 1;
}

async function tokenOf(baseUrl: string, groups: string[]): Promise<string> {
  const response = await fetch(`${baseUrl}/local/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sub: 'alice', groups }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

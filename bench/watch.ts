import { setTimeout as delay } from 'node:timers/promises';
import {
  createClient,
  isEndOfRun,
  localToken,
  watchEvents,
  type Client,
  type Schemas,
  type Token,
} from '../packages/client/index.ts';
import { createReadyComputation } from '../test/support/ready-computation.ts';
import { startService } from '../test/support/service-process.ts';
import { measureEndpoints } from './measure-endpoints.ts';
import { printTable } from './print-table.ts';

const watchers = 50;
const eventsOfRun = 60;
const meanPauseInMilliseconds = 500;
const cvm = 'cvm-of-bench';

await watchRun();
await printWaits();

/** Lets 50 watchers watch a run over HTTP, with the service in its own process. Prints how long after its record each event arrived. */
async function watchRun(): Promise<void> {
  const service = await startService([]);
  try {
    const { baseUrl } = service;
    const client = createClient({
      baseUrl,
      domain: 'd1',
      token: localToken({ baseUrl, sub: 'alice', groups: ['d1:administrator', 'd1:cvm'] }),
    });
    const viewer = localToken({ baseUrl, sub: 'bob', groups: ['d1:viewer'] });
    const { id } = await createReadyComputation(client, 'Watched');
    const watching = Array.from({ length: watchers }, () => watch(baseUrl, viewer, id));
    await playRun(client, id);
    const seen = await Promise.all(watching);
    const { events } = await client.listEvents({ id, limit: 100 });
    printWatchers(seen, events.toReversed());
  } finally {
    await service.end('SIGTERM');
  }
}

function printWatchers(seen: Seen[], journal: Schemas['Event'][]): void {
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

/** Watches a computation until its run has ended. */
async function watch(baseUrl: string, token: Token, id: string): Promise<Seen> {
  const seen: Seen = { ids: [], delays: [], requests: 0, failed: 0 };
  const countingFetch = async (request: Request) => {
    seen.requests++;
    const response = await fetch(request).catch(() => undefined);
    if (!response?.ok) seen.failed++;
    return response ?? Response.error();
  };
  const client = createClient({ baseUrl, domain: 'd1', token, fetch: countingFetch });
  const startedAt = Date.now();
  for await (const event of watchEvents(client, { id })) {
    seen.ids.push(event.id);
    const recordedAt = Date.parse(event.timestamp);
    if (recordedAt > startedAt) seen.delays.push(Date.now() - recordedAt);
    if (isEndOfRun(event)) break;
  }
  return seen;
}

/** Plays the CVM of a run that reports an event now and then. */
async function playRun(client: Client, id: string): Promise<void> {
  const run_id = await client.startRun({ id, cvm });
  const { commands } = await client.listCommands({ cvmID: cvm, wait: 20 });
  const report = (given: Schemas['Report']) => client.report({ cvmID: cvm, body: { reports: [given] } });
  await report({ id: 'accepted', run_id, type: 'accepted', command_id: commands[0]?.id ?? '' });
  for (let number = 0; number < eventsOfRun; number++) {
    await delay(Math.random() * 2 * meanPauseInMilliseconds);
    await report({ id: `step-${number}`, run_id, type: 'event', event_type: 'Running', status: `Step ${number}` });
  }
  await report({ id: 'completed', run_id, type: 'event', event_type: 'Complete', status: 'Completed' });
}

/** Prints what the table is charged for waits that end without an event. */
async function printWaits(): Promise<void> {
  const waits = (await measureEndpoints()).filter((each) => each.case.startsWith('held for 20 s'));
  console.log('\nWaits of 20 seconds in which nothing happens\n');
  printTable(waits.map(({ name, case: what, calls, readUnits, writeUnits }) => ({ name, what, calls, readUnits, writeUnits })));
  if (waits.length === 0 || waits.some(({ readUnits }) => readUnits > 25)) process.exitCode = 1;
}

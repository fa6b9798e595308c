import { createHash, randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { numberedId } from 'computation-management-formats/identifiers';
import type { EventFilter } from '../../shared/events/event-filter.ts';
import type { NewEvent } from '../../shared/journal/event.ts';
import { appendEvents, isSealDue } from '../../shared/journal/append-events.ts';
import { parseHead, readHead } from '../../shared/journal/stored-journal.ts';
import { readEvents } from '../../shared/events/read-events.ts';
import { journalKeys, type Key } from '../../shared/table/keys.ts';
import { type Table, queryPrefix, type Item } from '../../shared/table/table.ts';
import { transact } from '../../shared/table/transaction.ts';
import { putItems } from '../../shared/table/writes.ts';
import { printTable } from './print-table.ts';
import { ownerOf } from '../../test/support/append-to-journal.ts';
import { startProxiedTable, type ProxiedTable } from '../../test/support/embedded-table.ts';

const limit = 10;
const repetitions = 5;
const start = Date.UTC(2025, 0, 1);

interface Journal {
  name: string;
  size: number;
  event: (number: number) => NewEvent;
  eventsPerAppend: number;
}

/** The event type, status and originator of the events of a run, as an agent reports them. */
const lifecycle = [
  ['started', 'success', '7c1f4f0e-6f0b-4a53-9f3c-1d2f6a7f9b21'],
  ['ReceivingAlgorithm', 'InProgress', 'agent'],
  ['ReceivingData', 'InProgress', 'agent'],
  ['Running', 'InProgress', 'agent'],
  ...Array.from({ length: 44 }, () => ['AlgorithmRun', 'Warning', 'computation-runner']),
  ['ConsumingResults', 'Ready', 'agent'],
  ['completed', 'success', 'system'],
] as const;

function realistic(size: number): Journal {
  const runs = Array.from({ length: Math.ceil(size / lifecycle.length) }, (_, index) => numberedId(index + 1));
  return {
    name: 'runs of 50 events',
    size,
    event: (number) => {
      const [event_type, status, originator] = lifecycle[number % lifecycle.length] ?? lifecycle[0];
      const run = Math.floor(number / lifecycle.length);
      const details = { occurred_at: new Date(start + number).toISOString() };
      const ofRun = { run_id: runs[run] ?? '', cvm_id: `cvm-${run % 40}` };
      return { event_type, status, originator, ...ofRun, details, lifecycle: true } as NewEvent;
    },
    eventsPerAppend: 3,
  };
}

/** Returns a journal of events in which no value repeats, so that the dictionaries of its index do not help. */
function distinct(size: number): Journal {
  return {
    name: 'nothing repeats',
    size,
    eventsPerAppend: 1,
    event: (number) => {
      const [originator, run_id, cvm_id] = ['originator', 'run', 'cvm'].map((what) => digest(`${what} ${number}`));
      return {
        event_type: 'Running',
        status: 'InProgress',
        originator,
        run_id,
        cvm_id,
        details: {},
        lifecycle: true,
      } as NewEvent;
    },
  };
}

const digest = (text: string) => createHash('md5').update(text).digest('hex');

const proxied = await startProxiedTable();
try {
  for (const size of sizesFrom(process.argv.slice(2))) {
    for (const journal of [realistic(size), distinct(size)]) await measure(proxied, journal);
  }
} finally {
  await proxied.stop();
}

function sizesFrom(args: string[]): number[] {
  const { positionals } = parseArgs({ args, allowPositionals: true });
  const given = positionals.length > 0 ? positionals.map(Number) : [100_000];
  if (given.some((size) => !Number.isInteger(size) || size < 1_000)) {
    console.error('Usage: node tools/bench/events.ts [events of a journal, 1000 or more] ...');
    process.exit(2);
  }
  return given;
}

async function measure({ table, direct, proxy }: ProxiedTable, journal: Journal): Promise<void> {
  const computation = randomUUID();
  const times = await fill(direct, computation, journal);
  const segments = await queryPrefix(direct, journalKeys.partition(computation), journalKeys.prefixes.segment);
  const bytes = segments.reduce((sum, segment) => sum + sizeOf(segment), 0);
  console.log(
    `\n${journal.size.toLocaleString('en')} events, ${journal.name}: ${segments.length} index segments, ` +
      `${(bytes / segments.length / 1024).toFixed(1)} KB each, ${(bytes / 1_048_576).toFixed(2)} MB together. Pages of ${limit}\n`,
  );
  const rows = [];
  for (const [asked, filter, offset] of listings(journal, times)) {
    proxy.reset();
    const { total } = await readEvents(table, computation, filter, { limit, offset });
    rows.push({
      asked,
      offset,
      total,
      calls: proxy.calls.length,
      'round trips': proxy.sequentialCalls(),
      'read units': Math.round(proxy.readUnits() * 10) / 10,
      milliseconds: await median(() => readEvents(direct, computation, filter, { limit, offset })),
    });
  }
  printTable(rows);
  console.log();
  printTable(await measureAppends({ table, direct, proxy }, journal));
}

type Listing = [asked: string, filter: EventFilter, offset: number];

function listings({ size, event }: Journal, times: string[]): Listing[] {
  const { event_type, status, run_id, cvm_id, originator } = event(Math.floor(size / 2) + 3);
  const [early, middle, late] = [times[Math.floor(size * 0.1)], times[Math.floor(size / 2)], times[Math.floor(size * 0.9)]];
  const combined = { event_type, status, run_id, cvm_id, originator, from: early, to: late };
  return [
    ['no filter', {}, 0],
    ['no filter', {}, Math.floor(size / 2)],
    ['no filter', {}, size - limit],
    ['from the first event on', { from: times[0] }, size - limit],
    ['from', { from: middle }, 0],
    ['to', { to: middle }, 0],
    ['from, to', { from: early, to: late }, 0],
    ['from, to', { from: early, to: late }, Math.floor(size / 2)],
    ['status', { status: 'InProgress' }, 0],
    ['status', { status: 'InProgress' }, Math.floor(size / 20)],
    ['event_type', { event_type: 'Running' }, 0],
    ['run_id', { run_id }, 0],
    ['cvm_id', { cvm_id }, 0],
    ['originator', { originator }, 0],
    ['all combined', combined, 0],
    ['run_id that is not there', { run_id: 'none' }, 0],
    ['status, one per cent of the time', { status: 'InProgress', from: middle, to: times[Math.floor(size * 0.51)] }, 0],
  ];
}

/** Writes events into a journal in bulk, as appends one by one would have written them. Returns the timestamps of the events. */
async function fill(table: Table, computation: string, journal: Journal): Promise<string[]> {
  const times: string[] = [];
  let head = parseHead(undefined);
  let open = new Map<string, Item & Key>();
  let clock = start;
  for (let number = 0; number < journal.size; number += journal.eventsPerAppend) {
    if (isSealDue(head)) {
      await putItems(table, [...open.values()]);
      open = new Map();
    }
    const length = Math.min(journal.eventsPerAppend, journal.size - number);
    const events = Array.from({ length }, (_, index) => journal.event(number + index));
    clock += 37 + ((number * 7_919) % 1_700);
    const append = await appendEvents(table, ownerOf(computation), head, events, new Date(clock).toISOString());
    for (const { put } of append.actions) if (put?.Item) open.set(put.Item.sk, put.Item);
    times.push(...append.events.map((event) => event.timestamp));
    head = append.head;
  }
  await putItems(table, [...open.values()]);
  return times;
}

/**
 * Measures the cost of appending events to a journal, with and without a new segment of its index. Includes the read of the
 * journal's head.
 */
async function measureAppends({ table, direct, proxy }: Omit<ProxiedTable, 'stop'>, journal: Journal): Promise<object[]> {
  const rows: object[] = [];
  for (const [append, before, count] of [
    ['1 event', 100, 1],
    ['50 events', 100, 50],
    ['1 event and a segment', 256, 1],
  ] as const) {
    const computation = randomUUID();
    await fill(direct, computation, { ...journal, size: before, eventsPerAppend: 1 });
    proxy.reset();
    const events = Array.from({ length: count }, (_, index) => journal.event(before + index));
    const head = await readHead(table, computation);
    const { actions } = await appendEvents(table, ownerOf(computation), head, events, new Date().toISOString());
    await transact(table, actions);
    rows.push({ append, actions: actions.length, 'read units': proxy.readUnits(), 'write units': proxy.writeUnits() });
  }
  return rows;
}

async function median(read: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const begun = performance.now();
    await read();
    times.push(performance.now() - begun);
  }
  return Number((times.sort((a, b) => a - b)[Math.floor(repetitions / 2)] ?? 0).toFixed(1));
}

/** Returns the size of an item in bytes as DynamoDB counts it, within a few bytes. */
function sizeOf(item: Item): number {
  return Object.entries(item).reduce((sum, [name, value]) => {
    const bytes = value instanceof Uint8Array ? value.byteLength : Buffer.byteLength(String(value));
    return sum + name.length + bytes;
  }, 0);
}

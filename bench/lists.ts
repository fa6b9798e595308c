import { parseArgs } from 'node:util';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { numberedId } from '../shared/identifiers.ts';
import { keyToWrite, listKeys, lists, numbersPerLeaf, type List } from '../shared/table/keys.ts';
import { leafAttribute, midAttribute } from '../shared/table/list-index.ts';
import { addToList, moveInList, readPage, removeFromList, type PageRequest } from '../shared/table/listing.ts';
import { type Item, type Table } from '../shared/table/table.ts';
import { transact, type Action } from '../shared/table/transaction.ts';
import { printTable } from './print-table.ts';
import { startProxiedTable, type ProxiedTable } from '../test/support/proxied-table.ts';

/** How many of a thousand computations have each status. In addition, a tenth of all assigned numbers was deleted. */
const statuses = Object.entries({ completed: 620, created: 180, failed: 150, cancelled: 40, running: 9, stopping: 1 });
const deletedShare = 0.1;
const limit = 10;
const repetitions = 21;

interface Measurement {
  size: number;
  facet: string;
  offset: number;
  total: number;
  sequentialCalls: number;
  calls: number;
  readUnits: number;
  milliseconds: number;
}

const sizes = sizesFrom(process.argv.slice(2));
const proxied = await startProxiedTable();
try {
  const measurements: Measurement[] = [];
  for (const size of sizes) measurements.push(...(await measureDomain(proxied, size)));
  console.log(`\nPages of ${limit}; milliseconds are medians of ${repetitions} calls directly to the engine\n`);
  printTable(measurements);
  console.log('\nChanges, in write units\n');
  printTable(await measureChanges(proxied));
  printVerdict(measurements);
} finally {
  await proxied.stop();
}

function sizesFrom(args: string[]): number[] {
  const { positionals } = parseArgs({ args, allowPositionals: true });
  const given = positionals.length > 0 ? positionals.map(Number) : [1_000, 10_000, 100_000];
  if (given.some((size) => !Number.isInteger(size) || size < 1)) {
    console.error('Usage: node bench/lists.ts [members of a list] ...');
    process.exit(2);
  }
  return given;
}

async function measureDomain({ table, direct, proxy }: ProxiedTable, size: number): Promise<Measurement[]> {
  const list = lists.computations(`bench-${size}`);
  const totals = await fill(direct, list, size);
  const pages: PageRequest[] = offsetsIn(size).map((offset) => ({ limit, offset }));
  for (const facet of ['completed', 'stopping']) {
    pages.push(...offsetsIn(totals.get(facet) ?? 0).map((offset) => ({ limit, offset, facet })));
  }
  const measurements: Measurement[] = [];
  for (const page of pages) {
    proxy.reset();
    const { total } = await readPage(table, list, page);
    measurements.push({
      size,
      facet: page.facet ?? '',
      offset: page.offset,
      total,
      sequentialCalls: proxy.sequentialCalls(),
      calls: proxy.calls.length,
      readUnits: proxy.readUnits(),
      milliseconds: await median(() => readPage(direct, list, page)),
    });
  }
  return measurements;
}

function offsetsIn(size: number): number[] {
  return [...new Set([0, 5_000, Math.floor(size / 2), Math.max(0, size - limit)])]
    .filter((offset) => offset < size)
    .sort((a, b) => a - b);
}

async function median(read: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const start = performance.now();
    await read();
    times.push(performance.now() - start);
  }
  return Number((times.sort((a, b) => a - b)[Math.floor(repetitions / 2)] ?? 0).toFixed(1));
}

/** Writes in bulk what creates, transitions and deletes would write. Returns the number of members by status. */
async function fill(table: Table, list: List, size: number): Promise<Map<string, number>> {
  const random = sequence(size);
  const totals = new Map<string, number>();
  const index = new Map<string, Item>();
  const rows: Item[] = [];
  for (let number = 1; rows.length < size; number++) {
    if (random() < deletedShare) continue;
    const status = pickStatus(random);
    rows.push(row(list, number, status));
    totals.set(status, (totals.get(status) ?? 0) + 1);
    countIn(index, list, number, status);
  }
  await writeAll(table, [...rows, ...index.values()], `${size.toLocaleString('en')} members`);
  return totals;
}

function countIn(index: Map<string, Item>, list: List, number: number, status: string): void {
  const leaf = itemAt(index, listKeys.leaf(list, number));
  const members = (leaf[leafAttribute(list, status)] ??= new Set<number>()) as Set<number>;
  members.add(number % numbersPerLeaf);
  const mid = itemAt(index, listKeys.mid(list, number));
  for (const [each] of statuses) mid[midAttribute(list, each, number)] ??= 0;
  const attribute = midAttribute(list, status, number);
  mid[attribute] = Number(mid[attribute]) + 1;
}

function itemAt(index: Map<string, Item>, key: { pk: string; sk: string }): Item {
  const item = index.get(key.sk) ?? { ...key };
  index.set(key.sk, item);
  return item;
}

function row(list: List, number: number, status: string) {
  const createdAt = new Date(Date.UTC(2025, 0, 1) + number * 240_000).toISOString();
  return {
    ...keyToWrite(listKeys.row(list, number)),
    id: numberedId(number),
    name: `Survival after resection ${number}`,
    description: 'Kaplan-Meier estimate over the registries of three hospitals, by stage and age.',
    owner: '7c1f4f0e-6f0b-4a53-9f3c-1d2f6a7f9b21',
    status,
    created_at: createdAt,
    updated_at: createdAt,
  };
}

function pickStatus(random: () => number): string {
  let left = random() * 1_000;
  for (const [status, share] of statuses) {
    left -= share;
    if (left < 0) return status;
  }
  return 'completed';
}

/** Returns a seeded generator of numbers from 0 to 1 (mulberry32). */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function writeAll(table: Table, items: Item[], what: string): Promise<void> {
  const perBatch = 25;
  const sideBySide = 4;
  const start = performance.now();
  for (let from = 0; from < items.length; from += perBatch * sideBySide) {
    const batches = Array.from({ length: sideBySide }, (_, batch) =>
      items.slice(from + batch * perBatch, from + (batch + 1) * perBatch),
    );
    await Promise.all(
      batches
        .filter((batch) => batch.length > 0)
        .map((batch) =>
          table.document.send(
            new BatchWriteCommand({ RequestItems: { [table.name]: batch.map((Item) => ({ PutRequest: { Item } })) } }),
          ),
        ),
    );
    if (process.stderr.isTTY) process.stderr.write(`\rFilling ${what}: ${Math.floor((100 * from) / items.length)} %`);
  }
  const seconds = ((performance.now() - start) / 1_000).toFixed(1);
  process.stderr.write(`${process.stderr.isTTY ? '\r' : ''}Filled ${what} in ${seconds} s\n`);
}

/** Measures the cost of a create, a transition and a delete of number 8,191, the last one of a full mid. */
async function measureChanges({
  table,
  direct,
  proxy,
}: ProxiedTable): Promise<{ change: string; actions: number; writeUnits: number }[]> {
  const list = lists.computations('bench-changes');
  const number = 8_191;
  await fill(direct, list, 7_300);
  const created = row(list, number, 'created');
  const changes: [string, Action[]][] = [
    ['row alone', [{ put: { Item: created } }]],
    ['create', [{ put: { Item: created } }, ...addToList(list, number, 'created')]],
    ['transition', [{ put: { Item: { ...created, status: 'running' } } }, ...moveInList(list, number, 'created', 'running')]],
    ['delete', [{ delete: { Key: keyToWrite(listKeys.row(list, number)) } }, ...removeFromList(list, number, 'running')]],
  ];
  const measured = [];
  for (const [change, actions] of changes) {
    proxy.reset();
    await transact(table, actions);
    measured.push({ change, actions: actions.length, writeUnits: proxy.writeUnits() });
  }
  return measured;
}

/** Checks the design's limits: compares the last page of the longest list with the page at offset 5,000. */
function printVerdict(measurements: Measurement[]): void {
  const longest = Math.max(...sizes);
  const ofLongest = measurements.filter(({ size, facet }) => size === longest && facet === '');
  const last = ofLongest.at(-1);
  const early = ofLongest.find(({ offset }) => offset === 5_000);
  if (!last || !early || last === early) return;
  const ratio = last.milliseconds / early.milliseconds;
  const holds = last.sequentialCalls <= 4 && last.readUnits <= 40 && ratio <= 2;
  console.log(
    `\nOffset ${last.offset.toLocaleString('en')} of ${longest.toLocaleString('en')}: ${last.sequentialCalls} sequential calls (at most 4), ` +
      `${last.readUnits} read units (at most 40), ${ratio.toFixed(2)} times the time of offset 5,000 (at most 2): ${holds ? 'holds' : 'BROKEN'}`,
  );
  if (!holds) process.exitCode = 1;
}

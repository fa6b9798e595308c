import { parseArgs } from 'node:util';
import { numberedId } from '../shared/identifiers.ts';
import { changeTree } from '../shared/lists/change-tree.ts';
import { deletePartition } from '../shared/deletion/delete-partition.ts';
import { emptyHead, encodeHead, parseHead } from '../shared/lists/head.ts';
import { foldChanges } from '../shared/lists/fold.ts';
import { groupOfOwner, indexedLists, memberChange, stateOf, type IndexedList } from '../shared/lists/indexed-list.ts';
import { logChange } from '../shared/lists/log.ts';
import { recordChange } from '../shared/lists/record-change.ts';
import { comparePlaces, countsOf, type Member } from '../shared/lists/node.ts';
import { readPage, type PageRequest } from '../shared/lists/read-page.ts';
import { readTree } from '../shared/lists/snapshot.ts';
import { nodeItems, StoredNodes } from '../shared/lists/stored-nodes.ts';
import { carryOverName } from '../shared/lists/old-lists.ts';
import { decodeEdge, encodeEdge } from '../shared/lists/tree.ts';
import { indexKeys, keyToWrite, listKeys, migrationKeys, type Key } from '../shared/table/keys.ts';
import { deleteItems, getItem, putItem, putItems, type Item, type Table } from '../shared/table/table.ts';
import { transact, Transaction } from '../shared/table/transaction.ts';
import { printTable } from './print-table.ts';
import { startProxiedTable, type ProxiedTable } from '../test/support/proxied-table.ts';

/** How many of a thousand computations have each status. In addition, a tenth of all assigned numbers was deleted. */
const statuses = Object.entries({ completed: 620, created: 180, failed: 150, cancelled: 40, running: 9, stopping: 1 });
const deletedShare = 0.1;
const limit = 10;
const repetitions = 41;

interface Measurement {
  size: number;
  filter: string;
  offset: number;
  total: number;
  sequentialCalls: number;
  calls: number;
  readUnits: number;
  /** Of all answers, as JSON. */
  kilobytes: number;
  /** Processor time of this process. */
  cpu: number;
  milliseconds: number;
}

const sizes = sizesFrom(process.argv.slice(2));

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
  const list = indexedLists.computations(`bench-${size}`);
  const totals = await fill(direct, list, size);
  await addUnfolded(direct, list);
  const pages: PageRequest[] = offsetsIn(size).map((offset) => ({ limit, offset }));
  for (const state of ['completed', 'stopping']) {
    pages.push(...offsetsIn(totals.get(state) ?? 0).map((offset) => ({ limit, offset, state })));
  }
  const group = groupOfOwner(owners[0]);
  pages.push(...offsetsIn(size / owners.length - 100).map((offset) => ({ limit, offset, group })));
  const measurements: Measurement[] = [];
  for (const page of pages) measurements.push(await measure(page, page.state ?? (page.group === undefined ? '' : 'owner')));
  await removeAll(direct, list, size);
  measurements.push(await measure({ limit, offset: 0 }, 'all deleted'));
  return measurements;

  async function measure(page: PageRequest, filter: string): Promise<Measurement> {
    proxy.reset();
    const { total } = await readPage(table, list, page);
    return {
      size,
      filter,
      offset: page.offset,
      total,
      sequentialCalls: proxy.sequentialCalls(),
      calls: proxy.calls.length,
      readUnits: proxy.readUnits(),
      kilobytes: round(proxy.calls.reduce((sum, { answerBytes }) => sum + answerBytes, 0) / 1_000),
      ...(await timed(() => readPage(direct, list, page))),
    };
  }
}

function offsetsIn(size: number): number[] {
  return [...new Set([0, 5_000, Math.floor(size / 2), Math.max(0, size - limit)])]
    .filter((offset) => offset < size)
    .sort((a, b) => a - b);
}

async function timed(read: () => Promise<unknown>): Promise<{ cpu: number; milliseconds: number }> {
  const times: number[] = [];
  for (let warm = 0; warm < repetitions; warm++) await read();
  const before = process.cpuUsage();
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const start = performance.now();
    await read();
    times.push(performance.now() - start);
  }
  const { user, system } = process.cpuUsage(before);
  return {
    cpu: round((user + system) / 1_000 / repetitions),
    milliseconds: round(times.sort((a, b) => a - b)[Math.floor(repetitions / 2)] ?? 0),
  };
}

const round = (value: number) => Number(value.toFixed(1));

const owners = ['7c1f4f0e-6f0b-4a53-9f3c-1d2f6a7f9b21', 'a', 'b', 'c'] as const;
const groups = owners.map(groupOfOwner);
const membersPerBatch = 50_000;
/** Rows are only needed where pages are read. Beyond this number, only the newest and the oldest are written. */
const mostRows = 100_000;
const unfolded = 64;

/** Writes in bulk what creates, transitions and folds would have left. Returns the number of members by status. */
async function fill(table: Table, list: IndexedList, size: number): Promise<Map<string, number>> {
  const totals = new Map<string, number>();
  const started = performance.now();
  const trees = new Map<string, Uint8Array[]>();
  const names = new Map(Object.entries(list.states).map(([status, state]) => [state, status]));
  let members = 0;
  for (const batch of membersInBatches(list, size)) {
    const rows: Item[] = [];
    for (const { number, state } of batch) {
      const status = names.get(state) ?? '';
      members += 1;
      if (members > size - mostRows / 2 || members < mostRows / 2) rows.push(row(list, number, status));
      totals.set(status, (totals.get(status) ?? 0) + 1);
    }
    await writeRows(table, rows);
    for (const letter of ['c', 'o']) await enter(table, list, { trees, letter, batch });
    if (process.stderr.isTTY) process.stderr.write(`\rFilling: ${Math.floor((100 * members) / size)} %`);
  }
  await commitHead(table, list, trees);
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  process.stderr.write(`${process.stderr.isTTY ? '\r' : ''}Filled ${size.toLocaleString('en')} members in ${seconds} s\n`);
  return totals;
}

/** The members of a list, the same each time, sorted by number. */
function* membersInBatches(list: IndexedList, size: number): Generator<Member[]> {
  const random = sequence(size);
  let members = 0;
  for (let number = 1; members < size;) {
    const batch: Member[] = [];
    for (; batch.length < membersPerBatch && members < size; number++) {
      if (random() < deletedShare) continue;
      members += 1;
      batch.push({ group: groups[number % owners.length] ?? '', number, state: stateOf(list, pickStatus(random)) });
    }
    yield batch;
  }
}

interface Batch {
  trees: Map<string, Uint8Array[]>;
  letter: string;
  batch: Member[];
}

async function enter(table: Table, { index }: IndexedList, { trees, letter, batch }: Batch): Promise<void> {
  const changes = (letter === 'c' ? batch.map((member) => ({ ...member, group: '' })) : batch).toSorted(comparePlaces);
  const changed = await changeTree(decodeEdge(trees.get(letter) ?? []), changes, new StoredNodes(table, index));
  await putItems(table, nodeItems(index, changed.written));
  await deleteItems(
    table,
    changed.dropped.map((id) => indexKeys.node(index, id)),
  );
  trees.set(letter, encodeEdge(changed.tree));
}

async function commitHead(table: Table, { index }: IndexedList, trees: Map<string, Uint8Array[]>): Promise<void> {
  const [edge = [], ofOwners = []] = [trees.get('c'), trees.get('o')];
  const leaf = edge.at(-1) ?? new Uint8Array();
  const upper = edge.slice(0, -1);
  await putItem(table, { ...indexKeys.root(index, 'o', 'filled'), edge: ofOwners });
  if (upper.length > 0) await putItem(table, { ...indexKeys.root(index, 'c', 'filled'), edge: upper });
  const head = {
    ...emptyHead,
    version: 1,
    totals: { c: [...countsOf(decodeEdge(edge))] },
    leaves: { c: leaf },
    roots: { o: 'filled', ...(upper.length > 0 ? { c: 'filled' } : {}) },
  };
  await putItem(table, { ...indexKeys.head(index), ...encodeHead(head) });
}

const ownerOf = (number: number) => owners[number % owners.length] ?? owners[0];

/** Creates that no fold has moved into the trees yet: without the look at the log that would fold them. */
async function addUnfolded(table: Table, list: IndexedList): Promise<void> {
  for (let change = 1; change <= unfolded; change++) {
    const number = 200_000_000 + change;
    const changes = [memberChange(list, number, { now: 'created', group: groupOfOwner(ownerOf(number)) })];
    await transact(table, [
      { put: { Item: row(list, number, 'created') } },
      logChange(list.index, number, { version: 1, changes }),
    ]);
  }
}

/** Removes all members in bulk, and what is in the log: the domain is empty afterwards. */
async function removeAll(table: Table, list: IndexedList, size: number): Promise<void> {
  const { index } = list;
  for (const log of indexKeys.logs(index)) await deletePartition(table, log);
  const head = parseHead(await getItem(table, indexKeys.head(index)));
  const trees = new Map<string, Uint8Array[]>();
  for (const letter of ['c', 'o']) trees.set(letter, encodeEdge(await readTree(table, index, head, letter)));
  for (const members of membersInBatches(list, size)) {
    const gone = members.map((member) => ({ ...member, state: 0 }));
    for (const letter of ['c', 'o']) await enter(table, list, { trees, letter, batch: gone });
  }
  await deletePartition(table, list.rows.pk);
  await deletePartition(table, indexKeys.partition(index));
  await commitHead(table, list, trees);
}

async function makeChange(
  table: Table,
  list: IndexedList,
  { number, version = 1, ...change }: { number: number; version?: number; before?: string; now?: string },
): Promise<void> {
  const transaction = new Transaction();
  const Key = keyToWrite(listKeys.row(list.rows, number));
  transaction.add(change.now === undefined ? { delete: { Key } } : { put: { Item: row(list, number, change.now) } });
  const changes = [memberChange(list, number, { ...change, group: groupOfOwner(ownerOf(number)) })];
  recordChange(transaction, list.index, { resource: number, version, changes });
  await transaction.commit(table);
}

async function writeRows(table: Table, rows: Item[]): Promise<void> {
  const sideBySide = 4;
  const share = Math.ceil(rows.length / sideBySide);
  const parts = Array.from({ length: sideBySide }, (_, part) => rows.slice(part * share, (part + 1) * share));
  await Promise.all(parts.map((part) => putItems(table, part as (Item & Key)[])));
}

function row(list: IndexedList, number: number, status: string) {
  const createdAt = new Date(Date.UTC(2025, 0, 1) + number * 240_000).toISOString();
  return {
    ...keyToWrite(listKeys.row(list.rows, number)),
    id: numberedId(number),
    name: `Survival after resection ${number}`,
    description: 'Kaplan-Meier estimate over the registries of three hospitals, by stage and age.',
    owner: ownerOf(number),
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

/** Measures changes of members that a fold reaches together, with their share of the folds and of what these delete. */
async function measureChanges({ table, direct, proxy }: ProxiedTable): Promise<{ change: string; writeUnits: number }[]> {
  const rounds = 320;
  const measured = [];
  for (const [where, spread] of [
    ['among the newest 10,000', 31],
    ['scattered over all', 300],
  ] as const) {
    const list = indexedLists.computations(`bench-changes-${spread}`);
    await fill(direct, list, 100_000);
    let time = Date.now();
    const clocked = { ...table, clock: { now: () => time, wait: () => Promise.resolve() } };
    const cost = async (change: (number: number) => Promise<void>) => {
      proxy.reset();
      for (let round = 0; round < rounds; round++) {
        await change(110_000 - round * spread);
        time += 1_000;
      }
      for (let fold = 0; fold < 4; fold++) {
        await foldChanges(clocked, list.index, 0);
        time += 10_000;
      }
      return Number((proxy.writeUnits() / rounds).toFixed(2));
    };
    measured.push({
      change: `create, ${where}`,
      writeUnits: await cost((number) => makeChange(clocked, list, { number: number + 1_000_000, now: 'created' })),
    });
    measured.push({
      change: `transition, ${where}`,
      writeUnits: await cost((number) =>
        makeChange(clocked, list, { number: number + 1_000_000, version: 2, before: 'created', now: 'running' }),
      ),
    });
    measured.push({
      change: `delete, ${where}`,
      writeUnits: await cost((number) =>
        makeChange(clocked, list, { number: number + 1_000_000, version: 3, before: 'running' }),
      ),
    });
  }
  return measured;
}

/** The limits of the design (docs/adr/0001-lists.md). Compares lists of all sizes, and pages of the longest one. */
function verdicts(all: Measurement[]): { what: string; holds: boolean }[] {
  const [shortest, longest] = [Math.min(...sizes), Math.max(...sizes)];
  const firstPage = (size: number, filter = '') =>
    all.find((each) => each.size === size && each.filter === filter && each.offset === 0);
  const found: { what: string; holds: boolean }[] = [];
  const check = (
    what: string,
    each: Measurement | undefined,
    most: { calls: number; units: number; cpu?: number },
    base?: Measurement,
  ) => {
    if (!each) return;
    const ratio = base && each.cpu / base.cpu;
    const holds = each.sequentialCalls <= most.calls && each.readUnits <= most.units && (ratio ?? 0) <= (most.cpu ?? 0);
    const compared = ratio === undefined ? '' : `, ${ratio.toFixed(2)} times the processor time (at most ${most.cpu ?? 0})`;
    const units = `${each.sequentialCalls} calls in a row (at most ${most.calls}), ${each.readUnits} read units (at most ${most.units})`;
    found.push({ what: `${what}: ${units}${compared}`, holds });
  };
  for (const filter of ['', 'completed']) {
    check(
      `first page of ${name(longest)}${filter && `, ${filter}`}, against ${name(shortest)}`,
      firstPage(longest, filter),
      { calls: 1, units: 8, cpu: 1.5 },
      firstPage(shortest, filter),
    );
  }
  check(`first page of ${name(longest)} by a status of 1 in 1,000`, firstPage(longest, 'stopping'), { calls: 3, units: 30 });
  const early = all.find((each) => each.size === longest && each.filter === '' && each.offset === 5_000);
  for (const each of all.filter((each) => each.size === longest && each.filter === '' && each.offset > 5_000)) {
    check(`offset ${name(each.offset)} of ${name(longest)}, against 5,000`, each, { calls: 4, units: 20, cpu: 1.5 }, early);
  }
  const empty = firstPage(longest, 'all deleted');
  check(`first page after ${name(longest)} were deleted`, empty, { calls: 1, units: 4 });
  return found;
}

function name(count: number): string {
  return count.toLocaleString('en');
}

const proxied = await startProxiedTable();
await putItem(proxied.direct, { ...migrationKeys.state(carryOverName), done_at: new Date().toISOString() });
try {
  const measurements: Measurement[] = [];
  for (const size of sizes) measurements.push(...(await measureDomain(proxied, size)));
  console.log(`\nPages of ${limit}, with ${unfolded} changes that are not folded yet. Milliseconds, of the processor and`);
  console.log(`in all, are means and medians of ${repetitions} calls directly to the engine\n`);
  printTable(measurements);
  console.log('\nChanges, in write units with their share of the folds and of what these delete, without the row\n');
  printTable(await measureChanges(proxied));
  for (const { what, holds } of verdicts(measurements)) {
    console.log(`${holds ? 'holds ' : 'BROKEN'}  ${what}`);
    if (!holds) process.exitCode = 1;
  }
} finally {
  await proxied.stop();
}

import { inParallel } from '../../../shared/runtime/in-parallel.ts';
import { listKeys } from '../../../shared/table/keys.ts';
import { type Page, readPage } from '../../../shared/table/read-page.ts';
import { numberOfRow, openList, recordMember, type RowList, rowLists } from '../../../shared/table/row-lists.ts';
import { queryPrefix, type Table } from '../../../shared/table/table.ts';
import { Transaction } from '../../../shared/table/transaction.ts';
import type { ProxiedTable } from '../../../test/support/embedded-table.ts';
import { fill, fillDays, type Filled, ownerOf, owners, rareStatus, rowOf } from './fill.ts';

export const limit = 10;
export const repetitions = 41;
export const unfolded = 64;
const dayOfChanges = 20_100;
const year = { first: dayOfChanges - 365, last: dayOfChanges };
/**
 * The number of entries in the log of a domain that makes hundreds of changes a second: most entries are folded into the trees,
 * and not old enough to be deleted.
 */
export const busyLog = { folded: 3_500, unfolded: 1_500 };

export interface Measurement {
  size: number;
  what: string;
  offset: number;
  total: number;
  sequentialCalls: number;
  calls: number;
  readUnits: number;
  /** The size of all answers of the table together, as JSON, in kilobytes. */
  kilobytes: number;
  /** The processor time of the measuring process for one page, in milliseconds. */
  cpu: number;
  milliseconds: number;
}

interface Read {
  what: string;
  offset: number;
  read: (table: Table) => Promise<number>;
}

/** Fills the lists of a domain, and measures reads of their pages and of the statistics. */
export async function measurePages(proxied: ProxiedTable, size: number): Promise<Measurement[]> {
  const { table, direct } = proxied;
  const domain = `bench-${size}`;
  const list = rowLists.computations(domain);
  const measurements: Measurement[] = [];
  const filled = await fill(direct, domain, size);
  const first = filled.lastNumber + 1;
  await fillDays(direct, domain, { ...year, number: first });
  const lastNumber = first + year.last - year.first;
  await addUnfolded(direct, domain, lastNumber);
  // A process that reads the status for the first time does not know where its newest members are.
  measurements.push(await measureCold(proxied, pageOf(list, { limit, offset: 0, state: 'completed' }, 'completed, cold')));
  await readPage(table, list, { limit, offset: 0, state: 'completed' });
  for (const read of readsOf(domain, size, filled)) measurements.push(await measure(proxied, read));
  await makeBusy(direct, domain, lastNumber + unfolded);
  measurements.push(await measure(proxied, pageOf(list, { limit, offset: 0 }, 'busy log')));
  return measurements.map((each) => ({ ...each, size }));
}

function readsOf(domain: string, size: number, { totals }: Filled): Read[] {
  const list = rowLists.computations(domain);
  const reads = offsetsIn(size).map((offset) => pageOf(list, { limit, offset }, 'all'));
  for (const state of ['completed', rareStatus]) {
    reads.push(...offsetsIn(totals.get(state) ?? 0).map((offset) => pageOf(list, { limit, offset, state }, state)));
  }
  const owned = rowLists.ownedComputations(domain, owners[0]);
  reads.push(...offsetsIn(size / owners.length - 100).map((offset) => pageOf(owned, { limit, offset }, 'owner')));
  reads.push(pageOf(owned, { limit, offset: 0, state: rareStatus }, `owner, ${rareStatus}`));
  const days = async (table: Table) => (await openList(table, list).days(year.first, year.last)).length;
  reads.push({ what: 'statistics', offset: 0, read: days });
  return reads;
}

function pageOf(list: RowList, page: Parameters<typeof readPage>[2], what: string): Read {
  return { what, offset: page.offset, read: async (table): Promise<Page['total']> => (await readPage(table, list, page)).total };
}

function offsetsIn(size: number): number[] {
  return [...new Set([0, 5_000, Math.floor(size / 2), Math.max(0, size - limit)])]
    .filter((offset) => offset < size)
    .sort((a, b) => a - b);
}

async function measure(proxied: ProxiedTable, read: Read): Promise<Measurement> {
  await read.read(proxied.table);
  return { ...(await measureCold(proxied, read)), ...(await timed(() => read.read(proxied.direct))) };
}

async function measureCold({ table, proxy }: ProxiedTable, { what, offset, read }: Read): Promise<Measurement> {
  proxy.reset();
  const total = await read(table);
  return {
    size: 0,
    what,
    offset,
    total,
    sequentialCalls: proxy.sequentialCalls(),
    calls: proxy.calls.length,
    readUnits: proxy.readUnits(),
    kilobytes: round(proxy.calls.reduce((sum, { answerBytes }) => sum + answerBytes, 0) / 1_000),
    cpu: 0,
    milliseconds: 0,
  };
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

const round = (value: number) => Number(value.toFixed(2));

/**
 * Adds changes that no fold has moved into the lists' trees yet: a third are creates, a third are starts and a third are ends of
 * runs.
 */
async function addUnfolded(table: Table, domain: string, lastNumber: number): Promise<void> {
  const { rows } = rowLists.computations(domain);
  const newest = await queryPrefix(table, rows.pk, listKeys.prefixes.row, { limit: 1_000, newestFirst: true });
  const idle = newest.filter(({ status }) => status === 'created').map(numberOfRow);
  for (let change = 1; change <= unfolded; change++) {
    const old = change % 3 === 0 ? undefined : idle[change];
    if (old === undefined) await addChange(table, domain, lastNumber + change, { now: 'created' });
    else await addChange(table, domain, old, { before: 'created', now: change % 3 === 1 ? 'running' : 'completed' });
  }
}

/** Fills the log of a list with new computations, and folds most of the log into the trees. */
async function makeBusy(table: Table, domain: string, lastNumber: number): Promise<void> {
  // The clock stands still, so that no fold deletes what an earlier one has folded.
  const time = Date.now();
  const stopped = { ...table, clock: { now: () => time, wait: () => Promise.resolve() } };
  const all = Array.from({ length: busyLog.folded + busyLog.unfolded }, (_, index) => lastNumber + 1 + index);
  const add = (number: number) =>
    addChange(table, domain, number, { now: (['created', 'running', 'completed'] as const)[number % 3] ?? 'created' });
  await inParallel(all.slice(0, busyLog.folded), add);
  const list = openList(stopped, rowLists.computations(domain));
  for (let left = 1; left > 0;) left = (await list.fold({ least: 1 })).unfolded;
  await inParallel(all.slice(busyLog.folded), add);
}

type Status = keyof ReturnType<typeof rowLists.computations>['states'];

async function addChange(table: Table, domain: string, number: number, change: { before?: Status; now: Status }): Promise<void> {
  const transaction = new Transaction();
  const list = rowLists.computations(domain);
  transaction.add({ put: { Item: rowOf(list, number, change.now) } });
  recordMember(transaction, list, { number, version: 2, ...change, at: dayOfChanges * 86_400_000 });
  recordMember(transaction, rowLists.ownedComputations(domain, ownerOf(number)), { number, version: 2, ...change });
  await transaction.commit(table);
}

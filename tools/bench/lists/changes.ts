import { keysOf } from 'computation-management-counted-list/keys';
import { foldChangedLists, foldMarkedLists } from '../../../shared/table/fold-lists.ts';
import { keyToWrite, listKeys } from '../../../shared/table/keys.ts';
import { openList, recordMember, type RowList, rowLists } from '../../../shared/table/row-lists.ts';
import type { Table } from '../../../shared/table/table.ts';
import { Transaction } from '../../../shared/table/transaction.ts';
import { seededRandom, shuffled } from '../../../test/support/seeded-random.ts';
import type { ProxiedTable } from '../../../test/support/embedded-table.ts';
import { fill, hurrying, membersOf, ownerOf, owners, rowOf } from './fill.ts';

export interface MeasuredChange {
  change: string;
  where: string;
  size: number;
  /** The write units of one change of a computation, with those for the lists of owners. */
  writeUnits: number;
}

/**
 * The number of changes that are measured, among the newest members and anywhere: enough for several folds of the list's log into
 * its trees, each with as many changes as it takes.
 */
const rounds = { newest: 1_000, anywhere: 3_200 };
const newest = 10_000;
const millisecondsPerChange = 100;
const changesPerFold = 10;

type Status = keyof ReturnType<typeof rowLists.computations>['states'];

interface ChangedMember {
  number: number;
  status: Status;
}

/**
 * Measures the write units of changes of computations, with their share of the folds of the lists' logs and of the deletions by
 * folds. Each list is folded once a second, as on AWS.
 */
export async function measureChanges(proxied: ProxiedTable, size: number): Promise<MeasuredChange[]> {
  const measured: MeasuredChange[] = [];
  for (const where of ['among the newest 10,000', 'anywhere'] as const) {
    const isAnywhere = where === 'anywhere';
    const domain = `bench-changes-${size}-${isAnywhere ? 'anywhere' : 'newest'}`;
    const { lastNumber } = await fill(proxied.direct, domain, size);
    const members = changedMembers(size, isAnywhere ? size : newest, isAnywhere ? rounds.anywhere : rounds.newest);
    const created = members.map((_, round) => ({ number: lastNumber + 1 + round, now: 'created' as const }));
    const started = members.map(({ number, status }) => ({ number, version: 2, before: status, now: 'running' as const }));
    const ended = members.map(({ number }) => ({ number, version: 3, before: 'running' as const, now: 'completed' as const }));
    const deleted = members.map(({ number }) => ({ number, version: 4, before: 'completed' as const }));
    for (const [change, changes] of Object.entries({ create: created, start: started, end: ended, delete: deleted })) {
      measured.push({ change, where, size, writeUnits: await cost(proxied, domain, changes, millisecondsPerChange) });
    }
  }
  return measured;
}

/**
 * Measures the write units for folding a quiet list's log. The list gets one create a minute for two hours. Returns the units of
 * one create.
 */
export async function measureQuiet(proxied: ProxiedTable): Promise<number> {
  const { lastNumber } = await fill(proxied.direct, 'bench-quiet', 100_000);
  const creates = Array.from({ length: 120 }, (_, round) => ({ number: lastNumber + 1 + round, now: 'created' as const }));
  const ofRowAndLog = 6;
  return Number(((await cost(proxied, 'bench-quiet', creates, 60_000)) - ofRowAndLog).toFixed(2));
}

/** Returns the members of a list that are started, ended and deleted, in random order. None of them is running. */
function changedMembers(size: number, among: number, count: number): ChangedMember[] {
  const statusOf = new Map(Object.entries(rowLists.computations('').states).map(([status, state]) => [state, status as Status]));
  const random = seededRandom(size);
  const range = Math.min(among, size);
  const places = new Set<number>();
  while (places.size < Math.min(count, range)) places.add(size - 1 - Math.floor(random() * range));
  const chosen: ChangedMember[] = [];
  let place = 0;
  for (const { number, state } of membersOf(size)) {
    const status = statusOf.get(state) ?? 'completed';
    if (places.has(place++) && status !== 'running') chosen.push({ number, status });
  }
  return shuffled(chosen, random);
}

interface Change {
  number: number;
  version?: number;
  before?: Status;
  now?: Status;
}

async function cost(
  { table, proxy }: ProxiedTable,
  domain: string,
  changes: readonly Change[],
  milliseconds: number,
): Promise<number> {
  const clocked = hurrying(table);
  const lists = [rowLists.computations(domain), ...owners.map((owner) => rowLists.ownedComputations(domain, owner))];
  proxy.reset();
  const isQuiet = milliseconds >= 60_000;
  for (const [round, change] of changes.entries()) {
    await makeChange(clocked, domain, change);
    clocked.pass(milliseconds);
    if (isQuiet) {
      const entries = lists.map(({ name }) => keysOf(name).entry(change.number));
      await foldChangedLists(clocked, {
        Records: entries.map(({ pk, sk }) => ({ dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } } } })),
      });
      await foldMarkedLists(clocked);
    } else if ((round + 1) % changesPerFold === 0) {
      for (const list of lists) await openList(clocked, list).fold();
    }
  }
  for (const list of lists) await openList(clocked, list).fold({ least: 1, forMilliseconds: 60_000 });
  return Number((proxy.writeUnits() / changes.length).toFixed(2));
}

async function makeChange(table: Table, domain: string, { number, version = 1, before, now }: Change): Promise<void> {
  const transaction = new Transaction();
  const list = rowLists.computations(domain);
  const Key = keyToWrite(listKeys.row(list.rows, number));
  transaction.add(now === undefined ? { delete: { Key } } : { put: { Item: rowOf(list, number, now) } });
  const lists: RowList<Status>[] = [list, rowLists.ownedComputations(domain, ownerOf(number))];
  for (const each of lists) recordMember(transaction, each, { number, version, before, now });
  await transaction.commit(table);
}

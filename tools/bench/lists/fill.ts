import { numberedId } from 'computation-management-formats/identifiers';
import type { Member } from 'computation-management-counted-list';
import { keyToWrite, type Key, listKeys } from '../../../shared/table/keys.ts';
import { openList, recordMember, type RowList, rowLists } from '../../../shared/table/row-lists.ts';
import type { Item, Table } from '../../../shared/table/table.ts';
import { Transaction } from '../../../shared/table/transaction.ts';
import { putItems } from '../../../shared/table/writes.ts';
import { seededRandom } from '../../../test/support/seeded-random.ts';

/**
 * The number of computations with each status among a thousand. In addition, a tenth of all assigned numbers belonged to
 * computations that were deleted.
 */
const statuses = Object.entries({ completed: 620, created: 180, failed: 150, cancelled: 40, running: 9, stopping: 1 });
const deletedShare = 0.1;
const rowsPerWrite = 4_000;

export const rareStatus = 'stopping';
export const owners = ['7c1f4f0e-6f0b-4a53-9f3c-1d2f6a7f9b21', 'a', 'b', 'c'] as const;
export const ownerOf = (number: number) => owners[number % owners.length] ?? owners[0];

type RowOf = (number: number, status: string) => Item;

export interface Filled {
  /** The number of the list's members by status. */
  totals: Map<string, number>;
  lastNumber: number;
}

/** Returns a table with a clock that skips all waits. Its `pass` puts the clock forward. */
export function hurrying<T extends Table>(table: T): T & { pass: (milliseconds: number) => void } {
  let time = Date.now();
  const pass = (milliseconds: number) => void (time += milliseconds);
  return { ...table, clock: { now: () => time, wait: async (milliseconds: number) => pass(milliseconds) }, pass };
}

/**
 * Writes the lists of a domain's computations in bulk, as creates, transitions and folds would have left them, also the lists of
 * the owners. Rows are written only where pages are read: the newest and the oldest, about the middle and at 90 %, and those of
 * the rare status.
 */
export async function fill(
  table: Table,
  domain: string,
  size: number,
  { row, isOwned = true }: { row?: RowOf; isOwned?: boolean } = {},
) {
  const started = performance.now();
  const list = rowLists.computations(domain);
  const filled = await writeRows(table, list, size, row ?? ((number, status) => rowOf(list, number, status)));
  await build(table, list, membersOf(size));
  for (const owner of isOwned ? owners : []) {
    await build(table, rowLists.ownedComputations(domain, owner), membersOfOwner(size, owner));
  }
  const seconds = Math.round((performance.now() - started) / 1_000);
  process.stderr.write(`Filled ${size.toLocaleString('en')} members in ${seconds} s\n`);
  return filled;
}

async function build(table: Table, list: RowList, members: Generator<Member>): Promise<void> {
  await openList(hurrying(table), list).rebuild(async (_from, limit) => {
    const page: Member[] = [];
    for (let next = members.next(); !next.done; next = members.next()) if (page.push(next.value) === limit) break;
    return page;
  });
}

function* membersOfOwner(size: number, owner: string): Generator<Member> {
  for (const member of membersOf(size)) if (ownerOf(member.number) === owner) yield member;
}

async function writeRows(table: Table, list: RowList, size: number, row: RowOf): Promise<Filled> {
  const totals = new Map<string, number>();
  const names = new Map(Object.entries(list.states).map(([status, state]) => [state, status]));
  const aroundMiddle = Math.max(6_000, size / 5_000);
  let members = 0;
  let lastNumber = 0;
  let rows: Item[] = [];
  for (const { number, state } of membersOf(size)) {
    const status = names.get(state) ?? '';
    members += 1;
    lastNumber = number;
    const isAtEdge = members > size - 10_000 || members < 3_000;
    const isAround = (member: number, distance: number) => Math.abs(members - member) < distance;
    const isInside = isAround(size / 2, aroundMiddle) || isAround(size / 10, 2_000) || isAround(size - 20_000, 500);
    if (isAtEdge || isInside || status === rareStatus) rows.push(row(number, status));
    totals.set(status, (totals.get(status) ?? 0) + 1);
    if (rows.length < rowsPerWrite) continue;
    await putItems(table, rows as (Item & Key)[]);
    rows = [];
  }
  await putItems(table, rows as (Item & Key)[]);
  return { totals, lastNumber };
}

/** Yields the members of a list of computations, the same each time, sorted by number. @param size the number of members */
export function* membersOf(size: number): Generator<Member> {
  const random = seededRandom(size);
  const { states } = rowLists.computations('');
  for (let number = 1, members = 0; members < size; number++) {
    if (random() < deletedShare) continue;
    members += 1;
    yield { number, state: states[pickStatus(random) as keyof typeof states] };
  }
}

/** Gives a domain statistics of a year: for each day, creates a computation that ran and completed on that day. */
export async function fillDays(
  table: Table,
  domain: string,
  { first, last, number }: { first: number; last: number; number: number },
) {
  const list = rowLists.computations(domain);
  for (let day = first; day <= last; day++) {
    let before: 'created' | 'running' | 'completed' | undefined;
    for (const [version, now] of (['created', 'running', 'completed'] as const).entries()) {
      const transaction = new Transaction();
      transaction.add({ put: { Item: rowOf(list, number + day - first, now) } });
      recordMember(transaction, list, { number: number + day - first, version: version + 1, before, now, at: day * 86_400_000 });
      await transaction.commit(table);
      before = now;
    }
  }
  await settle(table, list);
}

/** Folds all changes of a list's log into its trees, and deletes the items that were replaced. */
async function settle(table: Table, list: RowList): Promise<void> {
  await openList(hurrying(table), list).fold({ least: 1, forMilliseconds: 60_000 });
}

export function rowOf(list: RowList, number: number, status: string) {
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

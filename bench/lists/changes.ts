import { foldChanges } from '../../shared/lists/fold.ts';
import { groupOfOwner, memberChange, type IndexedList } from '../../shared/lists/indexed-list.ts';
import { recordChange } from '../../shared/lists/record-change.ts';
import { keyToWrite, listKeys } from '../../shared/table/keys.ts';
import type { Table } from '../../shared/table/table.ts';
import { Transaction } from '../../shared/table/transaction.ts';
import type { ProxiedTable } from '../../test/support/proxied-table.ts';
import { aList, fill, membersOf, ownerOf, rowOf } from './fill.ts';

export interface MeasuredChange {
  change: string;
  where: string;
  size: number;
  writeUnits: number;
  /** Without the tree of owners. */
  withoutFilter: number;
}

const rounds = 320;

/** Measures changes with their share of the folds and of what these delete. */
export async function measureChanges(proxied: ProxiedTable, size: number): Promise<MeasuredChange[]> {
  const measured: MeasuredChange[] = [];
  for (const where of ['among the newest 10,000', 'anywhere'] as const) {
    const spread = where === 'anywhere' ? Math.floor(size / rounds) : 31;
    const byFilter = [];
    for (const isFiltered of [true, false]) byFilter.push(await measureSpread(proxied, { size, spread, isFiltered }));
    const [filtered = [], plain = []] = byFilter;
    for (const [at, { change, writeUnits }] of filtered.entries()) {
      measured.push({ change, where, size, writeUnits, withoutFilter: plain[at]?.writeUnits ?? 0 });
    }
  }
  return measured;
}

interface Setting {
  size: number;
  /** How many members apart the changed ones are, beginning with the newest. */
  spread: number;
  isFiltered: boolean;
}

interface ChangedMember {
  number: number;
  status: string;
}

/** Returns the members that are changed, in an order in which neighbours do not follow each other. */
function changedMembers(list: IndexedList, { size, spread }: Setting): ChangedMember[] {
  const statusOf = new Map(Object.entries(list.states).map(([status, state]) => [state, status]));
  const chosen: ChangedMember[] = [];
  let left = size;
  for (const { number, state } of membersOf(list, size)) {
    left -= 1;
    if (left % spread !== 0 || left >= rounds * spread) continue;
    chosen.push({ number, status: statusOf.get(state) ?? '' });
  }
  return chosen.map((_, round) => chosen[(round * 7) % chosen.length] ?? { number: 0, status: '' });
}

const statusAfter = ({ status }: ChangedMember) => (status === 'running' ? 'completed' : 'running');

async function measureSpread({ table, direct, proxy }: ProxiedTable, setting: Setting) {
  const { size, spread, isFiltered } = setting;
  const list = aList(`bench-changes-${size}-${spread}-${String(isFiltered)}`, isFiltered);
  const { lastNumber } = await fill(direct, list, size);
  let time = Date.now();
  const clocked = { ...table, clock: { now: () => time, wait: () => Promise.resolve() } };
  const members = changedMembers(list, setting);
  const cost = async (change: (member: ChangedMember, round: number) => Promise<void>) => {
    proxy.reset();
    for (const [round, member] of members.entries()) {
      await change(member, round);
      time += 100;
    }
    for (let fold = 0; fold < 4; fold++) {
      await foldChanges(clocked, list.index, 1);
      time += 10_000;
    }
    return Number((proxy.writeUnits() / rounds).toFixed(2));
  };
  return [
    {
      change: 'create',
      writeUnits: await cost((_, round) => makeChange(clocked, list, { number: lastNumber + 1 + round, now: 'created' })),
    },
    {
      change: 'transition',
      writeUnits: await cost((member) =>
        makeChange(clocked, list, { number: member.number, version: 2, before: member.status, now: statusAfter(member) }),
      ),
    },
    {
      change: 'delete',
      writeUnits: await cost((member) =>
        makeChange(clocked, list, { number: member.number, version: 3, before: statusAfter(member) }),
      ),
    },
  ];
}

async function makeChange(
  table: Table,
  list: IndexedList,
  { number, version = 1, ...change }: { number: number; version?: number; before?: string; now?: string },
): Promise<void> {
  const transaction = new Transaction();
  const Key = keyToWrite(listKeys.row(list.rows, number));
  transaction.add(change.now === undefined ? { delete: { Key } } : { put: { Item: rowOf(list, number, change.now) } });
  const changes = [memberChange(list, number, { ...change, group: groupOfOwner(ownerOf(number)) })];
  recordChange(transaction, list.index, { resource: number, version, changes });
  await transaction.commit(table);
}

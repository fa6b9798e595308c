import { deleteDeadNodes } from '../../../shared/lists/dead-nodes.ts';
import { foldChanges } from '../../../shared/lists/fold.ts';
import { memberChange, type IndexedList } from '../../../shared/lists/indexed-list.ts';
import { recordChange } from '../../../shared/lists/fold-due.ts';
import { keyToWrite, listKeys } from '../../../shared/table/keys.ts';
import type { Table } from '../../../shared/table/table.ts';
import { Transaction } from '../../../shared/table/transaction.ts';
import { seededRandom, shuffled } from '../../../test/support/seeded-random.ts';
import type { ProxiedTable } from '../../../test/support/embedded-table.ts';
import { aList, fill, groupOfMember, membersOf, rowOf } from './fill.ts';

export interface MeasuredChange {
  list: ListName;
  change: string;
  where: string;
  size: number;
  writeUnits: number;
  /** Without the tree of the filter. */
  withoutFilter: number;
}

/** Computations are filtered by owner, runs by computation. */
type ListName = 'computations' | 'runs';

/** Enough for several folds that each have as many changes as it takes (shared/lists/least-steps.ts). */
const rounds = { newest: 1_000, anywhere: 6_400 };
const newest = 10_000;

/** Measures changes with their share of the folds and of what these delete, also the dead nodes that are left after the last one. */
export async function measureChanges(proxied: ProxiedTable, size: number): Promise<MeasuredChange[]> {
  const measured: MeasuredChange[] = [];
  for (const list of ['computations', 'runs'] as const) {
    for (const where of ['among the newest 10,000', 'anywhere'] as const) {
      const isAnywhere = where === 'anywhere';
      const setting = { list, size, among: isAnywhere ? size : newest, count: isAnywhere ? rounds.anywhere : rounds.newest };
      const filtered = await measureSetting(proxied, { ...setting, isFiltered: true });
      const plain = await measureSetting(proxied, { ...setting, isFiltered: false });
      for (const [at, { change, writeUnits }] of filtered.entries()) {
        measured.push({ list, change, where, size, writeUnits, withoutFilter: plain[at]?.writeUnits ?? 0 });
      }
    }
  }
  return measured;
}

interface Setting {
  list: ListName;
  size: number;
  /** The members that are changed are among so many of the newest ones. */
  among: number;
  /** The number of members that are changed. */
  count: number;
  isFiltered: boolean;
}

interface ChangedMember {
  number: number;
  status: string;
}

/** Returns the members that are changed, in random order. */
function changedMembers(list: IndexedList, { size, among, count }: Setting): ChangedMember[] {
  const statusOf = new Map(Object.entries(list.states).map(([status, state]) => [state, status]));
  const random = seededRandom(size);
  const range = Math.min(among, size);
  const places = new Set<number>();
  while (places.size < Math.min(count, range)) places.add(size - 1 - Math.floor(random() * range));
  const chosen: ChangedMember[] = [];
  let place = 0;
  for (const { number, state } of membersOf(list, size)) {
    if (places.has(place++)) chosen.push({ number, status: statusOf.get(state) ?? '' });
  }
  return shuffled(chosen, random);
}

const statusAfter = ({ status }: ChangedMember) => (status === 'running' ? 'completed' : 'running');

async function measureSetting({ table, direct, proxy }: ProxiedTable, setting: Setting) {
  const { size, among, isFiltered } = setting;
  const list = aList(`bench-changes-${setting.list}-${size}-${among}-${String(isFiltered)}`, isFiltered, setting.list);
  const first = 'created' in list.states ? 'created' : 'running';
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
    await deleteDeadNodes(clocked, list.index);
    return Number((proxy.writeUnits() / members.length).toFixed(2));
  };
  return [
    {
      change: 'create',
      writeUnits: await cost((_, round) => makeChange(clocked, list, { number: lastNumber + 1 + round, now: first })),
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
  const changes = [memberChange(list, number, { ...change, group: groupOfMember(list, number) })];
  recordChange(transaction, list.index, { resource: number, version, changes });
  await transaction.commit(table);
}

import { numberedId } from 'computation-management-formats/identifiers';
import { changeTree } from '../../../shared/lists/change-tree.ts';
import { buildTree } from './build-tree.ts';
import { headOfTrees } from '../../../shared/lists/build-trees.ts';
import { emptyHead, encodeHead, parseHead, type Head } from '../../../shared/lists/head.ts';
import {
  groupOfComputation,
  groupOfOwner,
  indexedLists,
  treeIdsOf,
  stateOf,
  type IndexedList,
} from '../../../shared/lists/indexed-list.ts';
import type { Member } from '../../../shared/lists/node.ts';
import { readTree } from '../../../shared/lists/snapshot.ts';
import { decodeEdge, encodeEdge, nodeItems, StoredNodes } from '../../../shared/lists/stored-nodes.ts';
import { indexKeys, type Key, keyToWrite, listKeys } from '../../../shared/table/keys.ts';
import { getItem, queryBetween, type Item, type Table } from '../../../shared/table/table.ts';
import { deleteItems, putItem, putItems } from '../../../shared/table/writes.ts';

/** How many of a thousand computations have each status. In addition, a tenth of all assigned numbers was deleted. */
const statuses = Object.entries({ completed: 620, created: 180, failed: 150, cancelled: 40, running: 9, stopping: 1 });
const deletedShare = 0.1;
const membersPerBatch = 50_000;
/** As many as fit into a leaf where each member has a group of its own. */
const ownGroupsPerLeaf = 70;

export const rareStatus = 'stopping';
export const owners = ['7c1f4f0e-6f0b-4a53-9f3c-1d2f6a7f9b21', 'a', 'b', 'c'] as const;
const groups = owners.map(groupOfOwner);
const ownerOf = (number: number) => owners[number % owners.length] ?? owners[0];

type RowOf = (number: number, status: string) => Item;

const rowOfList =
  (list: IndexedList): RowOf =>
  (number, status) =>
    rowOf(list, number, status);

export interface Filled {
  /** The number of members by status. */
  totals: Map<string, number>;
  lastNumber: number;
}

/** A list of computations or runs, with or without the tree of its filter. */
export function aList(domain: string, isFiltered: boolean, kind: 'computations' | 'runs' = 'computations'): IndexedList {
  const list = indexedLists[kind](domain);
  return isFiltered ? list : { ...list, index: { ...list.index, trees: { [list.tree]: undefined } } };
}

/** Returns the group of a member in the tree of the filter. Each run is of another computation. */
export function groupOfMember(list: IndexedList, number: number): string {
  return hasOwnGroups(list) ? groupOfComputation(number) : (groups[number % groups.length] ?? '');
}

const hasOwnGroups = (list: IndexedList) => list.tree === 'r';

/**
 * Writes in bulk what creates, transitions and folds would have left. Rows are written only where pages are read: the newest and
 * the oldest, about the middle and at 90 %, and those of the rare status.
 */
export async function fill(table: Table, list: IndexedList, size: number, row: RowOf = rowOfList(list)): Promise<Filled> {
  const started = performance.now();
  const [totals, lastNumber] = await writeRows(table, list, size, row);
  const trees = new Map<string, Uint8Array[]>();
  for (const treeId of treeIdsOf(list)) {
    const members = treeId === list.tree ? membersOf(list, size) : membersByGroup(list, size);
    const membersPerLeaf = treeId !== list.tree && hasOwnGroups(list) ? ownGroupsPerLeaf : undefined;
    trees.set(treeId, await buildTree(table, list.index, members, membersPerLeaf));
  }
  await commitTrees(table, list, trees);
  const seconds = Math.round((performance.now() - started) / 1_000);
  process.stderr.write(`Filled ${size.toLocaleString('en')} members in ${seconds} s\n`);
  return { totals, lastNumber };
}

async function writeRows(table: Table, list: IndexedList, size: number, row: RowOf): Promise<[Map<string, number>, number]> {
  const totals = new Map<string, number>();
  const names = new Map(Object.entries(list.states).map(([status, state]) => [state, status]));
  const aroundMiddle = Math.max(6_000, size / 5_000);
  let members = 0;
  let lastNumber = 0;
  let rows: Item[] = [];
  for (const { number, state } of membersOf(list, size)) {
    const status = names.get(state) ?? '';
    members += 1;
    lastNumber = number;
    const isAtEdge = members > size - 10_000 || members < 3_000;
    const isAround = (member: number, distance: number) => Math.abs(members - member) < distance;
    const isInside = isAround(size / 2, aroundMiddle) || isAround(size / 10, 2_000) || isAround(size - 20_000, 500);
    const isPaged = isAtEdge || isInside;
    if (isPaged || (status === rareStatus && size < 50_000_000)) rows.push(row(number, status));
    totals.set(status, (totals.get(status) ?? 0) + 1);
    if (rows.length < 4_000) continue;
    await putRows(table, rows);
    rows = [];
  }
  await putRows(table, rows);
  return [totals, lastNumber];
}

/** Removes the members that were filled in, in bulk. Nothing must be in the log. */
export async function removeFilled(table: Table, list: IndexedList, size: number): Promise<void> {
  const { index } = list;
  const head = parseHead(await getItem(table, indexKeys.head(index)));
  const trees = new Map<string, Uint8Array[]>();
  const treeIds = treeIdsOf(list);
  for (const treeId of treeIds) trees.set(treeId, encodeEdge(await readTree(table, index, head, treeId)));
  for (const treeId of treeIds) {
    const members = treeId === list.tree ? membersOf(list, size) : membersByGroup(list, size);
    for (const batch of inBatches(members)) await remove(table, list, { trees, treeId, batch });
  }
  for (const batch of inBatches(membersOf(list, size))) {
    const [first, last] = [batch[0], batch.at(-1)].map((member) => keyToWrite(listKeys.row(list.rows, member?.number ?? 0)));
    if (!first || !last) continue;
    const rows = await queryBetween(table, first, last, { attributes: ['pk', 'sk'] });
    await deleteItems(table, rows as unknown as Key[]);
  }
  await deleteItems(
    table,
    Object.entries(head.roots).map(([treeId, name]) => indexKeys.root(index, treeId, name)),
  );
  await commitTrees(table, list, trees, head);
}

/** The members of a list, the same each time, sorted by number. */
export function* membersOf(list: IndexedList, size: number): Generator<Member> {
  const random = sequence(size);
  const states = new Map(Object.entries(list.states));
  const completed = stateOf(list, 'completed');
  for (let number = 1, members = 0; members < size; number++) {
    if (random() < deletedShare) continue;
    members += 1;
    yield { group: '', number, state: states.get(pickStatus(random)) ?? completed };
  }
}

/** The members as the tree of the filter has them, sorted by group, then by number. */
function* membersByGroup(list: IndexedList, size: number): Generator<Member> {
  if (hasOwnGroups(list)) {
    yield* membersOfOwnGroups(list, size);
    return;
  }
  for (const group of groups.toSorted()) {
    for (const member of membersOf(list, size)) {
      if (groupOfMember(list, member.number) === group) yield { ...member, group };
    }
  }
}

function* membersOfOwnGroups(list: IndexedList, size: number): Generator<Member> {
  const states = new Uint8Array(2 * size);
  for (const { number, state } of membersOf(list, size)) states[number] = state;
  for (const number of sortedAsTexts(states.length - 1)) {
    const state = states[number] ?? 0;
    if (state > 0) yield { group: groupOfMember(list, number), number, state };
  }
}

/** The numbers from 1 to the last one, sorted by their texts in base 36. */
function* sortedAsTexts(last: number, prefix = 0): Generator<number> {
  for (let digit = prefix === 0 ? 1 : 0; digit < 36; digit++) {
    const number = prefix * 36 + digit;
    if (number > last) return;
    yield number;
    yield* sortedAsTexts(last, number);
  }
}

function* inBatches(members: Iterable<Member>): Generator<Member[]> {
  let batch: Member[] = [];
  for (const member of members) {
    if (batch.push(member) < membersPerBatch) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

interface Batch {
  trees: Map<string, Uint8Array[]>;
  treeId: string;
  batch: Member[];
}

async function remove(table: Table, { index }: IndexedList, { trees, treeId, batch }: Batch): Promise<void> {
  const changes = batch.map((member) => ({ ...member, state: 0 }));
  const changed = await changeTree(decodeEdge(trees.get(treeId) ?? []), changes, new StoredNodes(table, index));
  await putItems(table, nodeItems(index, changed.written));
  await deleteItems(
    table,
    changed.dropped.map((id) => indexKeys.node(index, id)),
  );
  trees.set(treeId, encodeEdge(changed.tree));
}

async function commitTrees(
  table: Table,
  { index }: IndexedList,
  trees: Map<string, Uint8Array[]>,
  before: Head = emptyHead,
): Promise<void> {
  const name = String(before.version + 1).padStart(15, '0');
  const { head, roots } = headOfTrees(index, before, trees, name);
  await putItems(table, roots);
  await putItem(table, { ...indexKeys.head(index), ...encodeHead(head) });
}

async function putRows(table: Table, rows: Item[]): Promise<void> {
  const sideBySide = 4;
  const share = Math.ceil(rows.length / sideBySide);
  const parts = Array.from({ length: sideBySide }, (_, part) => rows.slice(part * share, (part + 1) * share));
  await Promise.all(parts.map((part) => putItems(table, part as (Item & Key)[])));
}

/** Writes the counts of days that earlier folds have moved out of the head. */
export async function fillDays(table: Table, { index }: IndexedList, { first, last }: { first: number; last: number }) {
  const days = Array.from({ length: last - first + 1 }, (_, at) => indexKeys.day(index, first + at));
  await putItems(
    table,
    days.map((day) => ({ ...day, counts: [0, 900, 850, 12, 620, 150, 40, 0] })),
  );
}

export function rowOf(list: IndexedList, number: number, status: string) {
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

import { migrationKeys, type List } from '../table/keys.ts';
import { facetsOf, leavesPerMid, numbersPerLeaf, numbersPerMid, oldListKeys } from '../table/old-list-keys.ts';
import { getItem, queryPartition, queryPrefix, type Item, type Table } from '../table/table.ts';
import type { Head } from './head.ts';
import type { IndexedList } from './indexed-list.ts';
import type { ListIndex } from './list-index.ts';
import { emptyCounts, type Child, type Member, type TreeNode } from './node.ts';
import type { NodeSource } from './tree.ts';

/** The migration that enters what earlier versions listed into the trees. */
export const carryOverName = 'lists-in-trees';

/** The clients of tables that are known to be carried over, which never changes again. */
const carriedOver = new WeakSet<object>();

/** As isCarriedOver, without a call. False if this process does not know it yet. */
export function isKnownToBeCarriedOver(table: Table): boolean {
  return carriedOver.has(table.document);
}

/** Returns whether the index of every list is complete, so that a list without a head has no older members. */
export async function isCarriedOver(table: Table): Promise<boolean> {
  if (isKnownToBeCarriedOver(table)) return true;
  const state = await getItem(table, migrationKeys.state(carryOverName));
  const isDone = state?.['done_at'] !== undefined;
  if (isDone) carriedOver.add(table.document);
  return isDone;
}

export const dayInMilliseconds = 24 * 60 * 60 * 1000;

/** Members of a list without a filter by state had no state. */
const unknownState = 7;

/**
 * Reads the index of earlier versions as a tree: a count for each state of each 256 numbers, and their members. It takes one
 * call for each megabyte, and is used until the migration has reached the list.
 */
export async function readOldTree(table: Table, list: IndexedList): Promise<{ tree: TreeNode; source: NodeSource }> {
  const mids = await queryPrefix(table, list.rows.pk, oldListKeys.prefixes.mid);
  const children = new Map<number, number[]>();
  for (const [facet, letter] of Object.entries(facetsOf(list.rows))) {
    for (const [firstNumber, count] of leafCounts(list.rows, mids, letter)) {
      const counts = children.get(firstNumber) ?? emptyCounts();
      counts[list.states[facet] ?? unknownState] = count;
      children.set(firstNumber, counts);
    }
  }
  const sorted = [...children].sort(([a], [b]) => a - b);
  const asChild = ([number, counts]: [number, number[]]): Child => ({ first: { group: '', number }, counts, id: String(number) });
  const source = { read: (id: string) => readOldLeaf(table, list, Number(id)) };
  if (sorted.length === 0) return { tree: { level: 0, members: [] }, source };
  return { tree: { level: 1, children: sorted.map(asChild) }, source };
}

/** Returns how many members each leaf has with a facet, by the leaf's first number. */
function leafCounts(list: List, mids: Item[], letter: string): Map<number, number> {
  const counts = new Map<number, number>();
  for (const mid of mids) {
    const firstNumber = Number(String(mid['sk']).slice(oldListKeys.prefixes.mid.length)) * numbersPerMid;
    for (const [attribute, count] of Object.entries(mid)) {
      if (attribute.charAt(0) !== letter) continue;
      if (typeof count !== 'number')
        throw new Error(`The count ${attribute} of ${list.pk} ${String(mid['sk'])} is not a number.`);
      const leaf = firstNumber + Number.parseInt(attribute.slice(1), leavesPerMid) * numbersPerLeaf;
      if (count > 0) counts.set(leaf, count);
    }
  }
  return counts;
}

async function readOldLeaf(table: Table, { rows, states }: IndexedList, firstNumber: number): Promise<TreeNode> {
  const leaf = await getItem(table, oldListKeys.leaf(rows, firstNumber));
  const members: Member[] = [];
  for (const [facet, letter] of Object.entries(facetsOf(rows))) {
    const offsets = leaf?.[letter];
    if (!(offsets instanceof Set)) continue;
    for (const offset of offsets as Set<number>) {
      members.push({ group: '', number: firstNumber + offset, state: states[facet] ?? unknownState });
    }
  }
  return { level: 0, members: members.sort((a, b) => a.number - b.number) };
}

/** Returns whether earlier versions listed members of an index. */
export async function hasOldMembers(table: Table, { scope }: ListIndex): Promise<boolean> {
  return (await queryPrefix(table, scope, oldListKeys.prefixes.mid, { limit: 1 })).length > 0;
}

/** Returns whether an index lacks what earlier versions listed, because the migration has not reached it yet. */
export async function awaitsCarryOver(table: Table, index: ListIndex, head: Head): Promise<boolean> {
  return head.version === 0 && (await hasOldMembers(table, index)) && !(await isCarriedOver(table));
}

/** Reads how often members entered each state on each day, as earlier versions counted it. The days are those since 1970-01-01. */
export async function readOldDays(table: Table, { states, oldStatistics }: IndexedList): Promise<Map<number, number[]>> {
  const days = new Map<number, number[]>();
  for (const item of oldStatistics === undefined ? [] : await queryPartition(table, oldStatistics)) {
    const counts = emptyCounts();
    for (const [status, state] of Object.entries(states)) counts[state] = Number(item[status] ?? 0);
    days.set(Date.parse(String(item['sk'])) / dayInMilliseconds, counts);
  }
  return days;
}

import * as v from 'valibot';
import { type Days, decodeDays, encodeDays } from './days.ts';
import type { Key, ListKeys } from './keys.ts';
import { type Counts, countsOf, decodeEdge, encodeEdge, encodeIntegers, integersIn, type TreeNode } from './node.ts';
import { getItem, has, isAbsent, type Item, type ListTable, parseItem, putItemIf, storedBytes } from './table.ts';

/**
 * A committed fold (a move of changes into the tree) whose entries may still be in the log, or be seen there by a reader.
 * `entries` has, for each member's number, the version up to which its changes are in the tree.
 */
export interface Fold {
  name: string;
  entries: ReadonlyMap<number, number>;
}

const storedHead = v.object({
  version: v.pipe(v.number(), v.integer()),
  totals: v.array(v.number()),
  /** The encoded nodes at the end of the tree's right edge: the last leaf, after the inner node above it if there is one. */
  edge: v.array(storedBytes),
  /**
   * The identifier of the root: an item with the other nodes of the tree's right edge and with the counts of old days. Empty if
   * there is neither.
   */
  root: v.string(),
  days: storedBytes,
  folds: v.array(v.object({ name: v.string(), entries: storedBytes })),
  /** The time until which nothing is folded, because the list is rebuilt. Milliseconds since the Unix epoch; 0: not held. */
  held_until: v.number(),
});

/**
 * The head of a list: the item that every read begins with, so that everything it reads is of one moment. Writers replace the
 * head on the condition that its version is unchanged.
 */
export interface Head extends Omit<v.InferOutput<typeof storedHead>, 'folds' | 'days'> {
  folds: Fold[];
  days: Days;
}

/** The head of a list that nothing was folded into. Such a list has no stored head. */
const emptyHead: Head = { version: 0, totals: [], edge: [], root: '', days: new Map(), folds: [], held_until: 0 };

export function parseHead(item: Item | undefined): Head {
  if (!item) return emptyHead;
  const head = parseItem(storedHead, item, 'head');
  const folds = head.folds.map(({ name, entries }) => ({ name, entries: decodeEntries(entries) }));
  return { ...head, days: decodeDays(head.days), folds };
}

export const readHead = async (table: ListTable, keys: ListKeys): Promise<Head> => parseHead(await getItem(table, keys.head));

/**
 * Replaces the head of a list by one with changes and the next version.
 * @returns the new head, or undefined if another process has replaced the head since it was read
 */
export async function replaceHead(table: ListTable, keys: ListKeys, head: Head, changes: Partial<Head>) {
  const next: Head = { ...head, ...changes, version: head.version + 1 };
  const folds = next.folds.map(({ name, entries }) => ({ name, entries: encodeEntries(entries) }));
  const item: Item & Key = { ...keys.head, ...next, days: encodeDays(next.days), folds };
  const isReplaced = await putItemIf(table, item, head.version === 0 ? isAbsent : has('version', head.version));
  return isReplaced ? next : undefined;
}

function encodeEntries(entries: Fold['entries']): Uint8Array {
  const sorted = [...entries].sort(([a], [b]) => a - b);
  return encodeIntegers(sorted.flatMap(([number, version], index) => [number - (sorted[index - 1]?.[0] ?? 0), version]));
}

function decodeEntries(bytes: Uint8Array): Map<number, number> {
  const integers = integersIn(bytes);
  const entries = new Map<number, number>();
  for (let number = 0; !integers.isAtEnd();) entries.set((number += integers.next()), integers.next());
  return entries;
}

/** Returns the version up to which the changes of a member are in the tree. 0 if the head does not name the member. */
export function foldedVersion({ folds }: Pick<Head, 'folds'>, number: number): number {
  let version = 0;
  for (const { entries } of folds) version = Math.max(version, entries.get(number) ?? 0);
  return version;
}

const nodesInHead = 2;

export function ofTree(tree: TreeNode): Pick<Head, 'edge' | 'totals'> {
  return { edge: encodeEdge(tree).slice(-nodesInHead), totals: [...countsOf(tree)] };
}

export const upperEdge = (tree: TreeNode): Uint8Array[] => encodeEdge(tree).slice(0, -nodesInHead);

/**
 * Returns the tree of a list, whose right edge is decoded and whose other nodes are read when they are needed.
 * @param upper the nodes of the right edge in the item of the root. Default: only the part that the head has
 */
export const treeOf = ({ edge }: Head, upper: readonly Uint8Array[] = []): TreeNode => decodeEdge([...upper, ...edge]);

/**
 * Returns the part of the tree that the head contains, which has the newest members: its nodes, the numbers of its members by
 * state, and its first member's number. That number is 0 if the part is the whole tree.
 */
export function newestInHead(head: Head): { tree: TreeNode; counts: Counts; from: number } {
  const tree = treeOf(head);
  const counts = countsOf(tree);
  const isWhole = counts.every((count, state) => count === (head.totals[state] ?? 0));
  return { tree, counts, from: isWhole ? 0 : (tree.parts[0]?.number ?? 0) };
}

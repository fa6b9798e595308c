import * as v from 'valibot';
import { type Days, decodeDays, encodeDays } from './days.ts';
import type { Key, ListKeys } from './keys.ts';
import { type Counts, countsOf, decodeEdge, encodeEdge, encodeIntegers, integersIn, type TreeNode } from './node.ts';
import { getItem, has, isAbsent, type Item, type ListTable, parseItem, putItemIf, storedBytes } from './table.ts';

/** A fold whose entries may still be in the log, or seen there by a reader. */
export interface Fold {
  name: string;
  entries: ReadonlyMap<number, number>;
}

const storedHead = v.object({
  version: v.pipe(v.number(), v.integer()),
  totals: v.array(v.number()),
  /** The last leaf, after the inner node above it if there is one. */
  edge: v.array(storedBytes),
  /** The root: an item with the rest of the right edge and with old days. Empty if there is neither. */
  root: v.string(),
  days: storedBytes,
  folds: v.array(v.object({ name: v.string(), entries: storedBytes })),
  /** The time until which nothing is folded, because the list is rebuilt. Milliseconds since the Unix epoch. */
  held_until: v.number(),
});

/**
 * The item that every read of a list begins with, so that what it reads is of one moment. Writers replace it on the condition
 * that its version is unchanged.
 */
export interface Head extends Omit<v.InferOutput<typeof storedHead>, 'folds' | 'days'> {
  folds: Fold[];
  days: Days;
}

/** A list that nothing was folded into has no item. */
const emptyHead: Head = { version: 0, totals: [], edge: [], root: '', days: new Map(), folds: [], held_until: 0 };

export function parseHead(item: Item | undefined): Head {
  if (!item) return emptyHead;
  const head = parseItem(storedHead, item, 'head');
  const folds = head.folds.map(({ name, entries }) => ({ name, entries: decodeEntries(entries) }));
  return { ...head, days: decodeDays(head.days), folds };
}

export async function readHead(table: ListTable, keys: ListKeys): Promise<Head> {
  return parseHead(await getItem(table, keys.head));
}

/** @returns the next head, if this one was not replaced since it was read */
export async function replaceHead(
  table: ListTable,
  keys: ListKeys,
  head: Head,
  changes: Partial<Head>,
): Promise<Head | undefined> {
  const next = { ...head, ...changes, version: head.version + 1 };
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

/** Returns the version up to which the tree contains a member's steps. 0: none. */
export function foldedVersion({ folds }: Pick<Head, 'folds'>, number: number): number {
  let version = 0;
  for (const { entries } of folds) version = Math.max(version, entries.get(number) ?? 0);
  return version;
}

const nodesInHead = 2;

export function ofTree(tree: TreeNode): Pick<Head, 'edge' | 'totals'> {
  return { edge: encodeEdge(tree).slice(-nodesInHead), totals: [...countsOf(tree)] };
}

export function upperEdge(tree: TreeNode): Uint8Array[] {
  return encodeEdge(tree).slice(0, -nodesInHead);
}

/** @param upper the right edge in the item of the root. Default: only what the head has */
export function treeOf({ edge }: Head, upper: readonly Uint8Array[] = []): TreeNode {
  return decodeEdge([...upper, ...edge]);
}

/** Returns the part of the tree that is in the head, its members by state, and its first number. 0: the whole tree. */
export function newestInHead(head: Head): { tree: TreeNode; counts: Counts; from: number } {
  const tree = treeOf(head);
  const counts = countsOf(tree);
  const isWhole = counts.every((count, state) => count === (head.totals[state] ?? 0));
  return { tree, counts, from: isWhole ? 0 : (tree.parts[0]?.number ?? 0) };
}

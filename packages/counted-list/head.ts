import * as v from 'valibot';
import { type Days, decodeDays, encodeDays } from './days.ts';
import type { Key, ListKeys } from './keys.ts';
import { countsOf, decodeEdge, encodeEdge, encodeIntegers, integersIn, type TreeNode } from './node.ts';
import { getItem, has, isAbsent, type Item, type ListTable, parseItem, putItemIf, storedBytes } from './table.ts';

/** A fold whose entries may still be in the log, or seen there by a reader that began before it. */
export interface Fold {
  name: string;
  /** The version up to which the tree contains the steps of each member, by its number. */
  entries: ReadonlyMap<number, number>;
}

const storedHead = v.object({
  version: v.pipe(v.number(), v.integer()),
  /** The number of members in each state. */
  totals: v.array(v.number()),
  /** The last leaf of the tree, after the inner node above it if there is one. */
  edge: v.array(storedBytes),
  /** The identifier of the root, an item with the rest of the right edge and with old days. Empty if there is neither. */
  root: v.string(),
  /** The last two days. */
  days: storedBytes,
  folds: v.array(v.object({ name: v.string(), entries: storedBytes })),
  /** While the list is rebuilt, nothing is folded until this time, in milliseconds since 1970. */
  held_until: v.number(),
});

/** What a read begins with: one item, so that all of it is of one moment. Its version fences the writers. */
export interface Head extends Omit<v.InferOutput<typeof storedHead>, 'folds' | 'days'> {
  folds: Fold[];
  days: Days;
}

/** The head of a list that nothing was folded into has no item. */
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

/** Replaces a head with its next version, unless it has been replaced since it was read. @returns the next one, if it was replaced */
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

/** Returns the version up to which the tree contains the steps of a member that are in the log. 0: nothing of it. */
export function foldedVersion({ folds }: Pick<Head, 'folds'>, number: number): number {
  let version = 0;
  for (const { entries } of folds) version = Math.max(version, entries.get(number) ?? 0);
  return version;
}

/** The last nodes of the right edge, which are in the head. */
const nodesInHead = 2;

/** Returns what a head has of a tree. */
export function ofTree(tree: TreeNode): Pick<Head, 'edge' | 'totals'> {
  return { edge: encodeEdge(tree).slice(-nodesInHead), totals: [...countsOf(tree)] };
}

/** Returns the part of the right edge of a tree that is in the item of its root. */
export function upperEdge(tree: TreeNode): Uint8Array[] {
  return encodeEdge(tree).slice(0, -nodesInHead);
}

/** @param upper what the item of the root has of the right edge. Default: only what the head has. */
export function treeOf({ edge }: Head, upper: readonly Uint8Array[] = []): TreeNode {
  return decodeEdge([...upper, ...edge]);
}

/** Returns the part of the tree that is in the head, and the number at which it begins. 0: the whole tree. */
export function newestInHead(head: Head): { tree: TreeNode; from: number } {
  const tree = treeOf(head);
  const isWhole = countsOf(tree).every((count, state) => count === (head.totals[state] ?? 0));
  return { tree, from: isWhole ? 0 : (tree.parts[0]?.number ?? 0) };
}

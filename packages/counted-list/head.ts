import * as v from 'valibot';
import { type Days, decodeDays, encodeDays } from './days.ts';
import type { Key, ListKeys } from './keys.ts';
import { ByteReader, ByteWriter, decodeEdge, encodeEdge, emptyTree, isLeaf, lengthOfInteger, type TreeNode } from './node.ts';
import { getItem, isAbsent, type Item, type ListTable, parseItem, putItemIf, storedBytes } from './table.ts';

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
  /** The last leaf of the tree, and the inner node above it. Absent if there is none. */
  leaf: v.optional(storedBytes),
  branch: v.optional(storedBytes),
  /** The fold whose root has the rest of the right edge. Absent where there is none. */
  root: v.optional(v.string()),
  /** The days of the last two days. */
  days: storedBytes,
  /** The fold whose item has the days before. */
  old_days: v.optional(v.string()),
  folds: v.array(v.object({ name: v.string(), entries: storedBytes })),
  /** While the list is rebuilt, nothing is folded until this time, in milliseconds since 1970. */
  held: v.optional(v.object({ by: v.string(), until: v.number() })),
});

/** What a read begins with: one item, so that all of it is of one moment. Its version fences the writers. */
export interface Head extends Omit<v.InferOutput<typeof storedHead>, 'folds' | 'days'> {
  folds: Fold[];
  days: Days;
}

/** The head of a list that nothing was folded into has no item. */
const emptyHead: Head = { version: 0, totals: [], days: new Map(), folds: [] };

export function parseHead(item: Item | undefined): Head {
  if (!item) return emptyHead;
  const head = parseItem(storedHead, item, 'head');
  const folds = head.folds.map(({ name, entries }) => ({ name, entries: decodeEntries(entries) }));
  return { ...head, days: decodeDays(head.days), folds };
}

export async function readHead(table: ListTable, keys: ListKeys): Promise<Head> {
  return parseHead(await getItem(table, keys.head));
}

/** Replaces the head with its next version, unless it has been replaced since it was read. @returns whether it was replaced */
export function commitHead(table: ListTable, keys: ListKeys, head: Head): Promise<boolean> {
  const folds = head.folds.map(({ name, entries }) => ({ name, entries: encodeEntries(entries) }));
  const item: Item & Key = { ...keys.head, ...head, days: encodeDays(head.days), folds };
  const isNext = { ConditionExpression: 'version = :before', ExpressionAttributeValues: { ':before': head.version - 1 } };
  return putItemIf(table, item, head.version === 1 ? isAbsent : isNext);
}

function encodeEntries(entries: Fold['entries']): Uint8Array {
  const writer = new ByteWriter();
  let before = 0;
  for (const [number, version] of [...entries].sort(([a], [b]) => a - b)) {
    writer.integer(number - before);
    writer.integer(version);
    before = number;
  }
  return writer.bytes();
}

function decodeEntries(bytes: Uint8Array): Map<number, number> {
  const reader = new ByteReader(bytes);
  const entries = new Map<number, number>();
  for (let number = 0; !reader.isAtEnd();) entries.set((number += reader.integer()), reader.integer());
  return entries;
}

/** Returns the most bytes in which the head names an entry. */
export function bytesToName(number: number, version: number): number {
  return lengthOfInteger(number) + lengthOfInteger(version);
}

/** Returns the version up to which the tree contains the steps of a member that are in the log. 0: nothing of it. */
export function foldedVersion({ folds }: Head, number: number): number {
  let version = 0;
  for (const { entries } of folds) version = Math.max(version, entries.get(number) ?? 0);
  return version;
}

/** Divides the right edge of a tree: the newest members are in the head, the rest in the item of the root. */
export function divideEdge(tree: TreeNode): { upper: Uint8Array[]; branch?: Uint8Array; leaf?: Uint8Array } {
  const upper = encodeEdge(tree);
  const [leaf, branch] = [upper.pop(), upper.pop()];
  return { upper, ...(branch && { branch }), ...(leaf && { leaf }) };
}

/** @param upper what the item of the root has of the right edge. Default: only what the head has. */
export function treeOf({ branch, leaf }: Head, upper: readonly Uint8Array[] = []): TreeNode {
  return decodeEdge([...upper, ...(branch ? [branch] : []), ...(leaf ? [leaf] : [])]);
}

/** Returns the part of the tree that is in the head, and the number at which it begins. 0: the whole tree. */
export function newestInHead(head: Head): { tree: TreeNode; from: number } {
  const tree = head.leaf ? treeOf(head) : emptyTree;
  const first = isLeaf(tree) ? tree.members[0]?.number : tree.children[0]?.first;
  return { tree, from: head.root === undefined ? 0 : (first ?? 0) };
}

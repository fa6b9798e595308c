import * as v from 'valibot';
import { ByteReader, ByteWriter, isLeaf, lengthOfInteger } from './node.ts';
import type { ListIndex } from './log.ts';
import { joinEdge, type StoredEdge, type Tree } from './stored-nodes.ts';
import { indexKeys } from '../table/keys.ts';
import { parseStored, storedBytes } from '../table/parse-stored.ts';
import { getItem, type Item, type Table } from '../table/table.ts';
import { putItemIf } from '../table/writes.ts';

/**
 * A fold whose entries may still be in the log, or seen there by a reader that began before it. Its stages:
 *   committed  the trees contain its entries
 *   seen       somebody has read the head with it since `at`; no read that began before it lasts longer than two seconds
 *   cleared    the entries and the old nodes are deleted since `at`
 */
export interface Fold {
  name: string;
  stage: 'committed' | 'seen' | 'cleared';
  /** Milliseconds since 1970, by the clock of the writer. */
  at: number;
  /** The version up to which each entry is in the trees, by the entry's name. */
  entries: ReadonlyMap<string, number>;
}

/** The counts of a day, by state; `kept_at` once they are also in the day's item. */
const dayCounts = v.object({ counts: v.array(v.number()), kept_at: v.optional(v.number()) });
export type DayCounts = v.InferOutput<typeof dayCounts>;

const storedFold = v.object({
  name: v.string(),
  stage: v.picklist(['committed', 'seen', 'cleared']),
  at: v.number(),
  entries: storedBytes,
});

const storedHead = v.object({
  version: v.pipe(v.number(), v.integer()),
  /** The number of members in each state, by the id of the list's tree. */
  totals: v.record(v.string(), v.array(v.number())),
  /** The last leaf of each list's tree. */
  leaves: v.record(v.string(), storedBytes),
  /** The inner node above it. Absent if there is none. */
  branches: v.record(v.string(), storedBytes),
  /** The name of the item with the rest of the right edge, by the tree's id; absent where there is none. */
  roots: v.record(v.string(), v.string()),
  /** By the day since 1970-01-01. */
  days: v.record(v.string(), dayCounts),
  folds: v.array(storedFold),
  /** While the index is rebuilt (rebuild.ts), nothing is folded. Its trees are built, or what they replaced is deleted. */
  held: v.optional(v.picklist(['building', 'cleaning'])),
});

/** What a read of the lists begins with: one item, so that all of it is of one moment. */
export interface Head extends Omit<v.InferOutput<typeof storedHead>, 'folds'> {
  folds: Fold[];
}

/** The head of an index that nothing was folded into has no item. Its version is 0. */
export const emptyHead: Head = { version: 0, totals: {}, leaves: {}, branches: {}, roots: {}, days: {}, folds: [] };

export function parseHead(item: Item | undefined): Head {
  if (!item) return emptyHead;
  const head = parseStored(storedHead, item, 'head of a list index');
  return { ...head, folds: head.folds.map((fold) => ({ ...fold, entries: decodeEntries(fold.entries) })) };
}

/** Returns the attributes of the head's item. */
export function encodeHead(head: Head): Item {
  return { ...head, folds: head.folds.map((fold) => ({ ...fold, entries: encodeEntries(fold.entries) })) };
}

function encodeEntries(entries: Fold['entries']): Uint8Array {
  const writer = new ByteWriter();
  for (const [name, version] of entries) {
    writer.text(name);
    writer.integer(version);
  }
  return writer.bytes();
}

/** Returns the bytes in which the head names entries. */
export function bytesToName(entries: Fold['entries']): number {
  let bytes = 0;
  for (const [name, version] of entries) bytes += name.length + 1 + lengthOfInteger(version);
  return bytes;
}

function decodeEntries(bytes: Uint8Array): Map<string, number> {
  const reader = new ByteReader(bytes);
  const entries = new Map<string, number>();
  while (!reader.isAtEnd) entries.set(reader.text(), reader.integer());
  return entries;
}

/** Returns the version up to which the trees contain an entry that is in the log. 0: nothing of it. */
export function foldedVersion({ folds }: Head, name: string): number {
  let version = 0;
  for (const { entries } of folds) version = Math.max(version, entries.get(name) ?? 0);
  return version;
}

/** Returns the right edge of a tree: the upper part, which is stored apart, and what the head has of it. */
export function edgeInHead({ leaves, branches }: Head, treeId: string, upper: Uint8Array[] = []): StoredEdge {
  const [branch, leaf] = [branches[treeId], leaves[treeId]];
  return { upper, ...(branch && { branch }), ...(leaf && { leaf }) };
}

/** Returns the part of a list that is in the head, and the number at which it begins. 0: the whole list. */
export function newestInHead(head: Head, treeId: string): { tree: Tree; from: number } {
  const tree = joinEdge(edgeInHead(head, treeId));
  const first = isLeaf(tree) ? tree.members[0] : tree.children[0]?.first;
  return { tree, from: head.roots[treeId] === undefined ? 0 : (first?.number ?? 0) };
}

export async function readHead(table: Table, index: ListIndex): Promise<Head> {
  return parseHead(await getItem(table, indexKeys.head(index)));
}

/** Replaces the head with its next version, unless it has been replaced since it was read. @returns whether it was replaced */
export function commitHead(table: Table, index: ListIndex, head: Head): Promise<boolean> {
  const isNext =
    head.version === 1
      ? { ConditionExpression: 'attribute_not_exists(pk)' }
      : { ConditionExpression: 'version = :before', ExpressionAttributeValues: { ':before': head.version - 1 } };
  return putItemIf(table, { ...indexKeys.head(index), ...encodeHead(head) }, isNext);
}

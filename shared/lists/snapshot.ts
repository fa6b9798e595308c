import * as v from 'valibot';
import { steadyTimeOf } from '../runtime/clock.ts';
import { indexKeys } from '../table/keys.ts';
import { parseStored, storedBytes } from '../table/parse-stored.ts';
import { SharedReads } from '../table/shared-reads.ts';
import { clockOf, deadlineOf, getItem, queryPrefix, type Item, type Table } from '../table/table.ts';
import { edgeInHead, newestInHead, parseHead, type Head } from './head.ts';
import type { ListIndex, LogEntry } from './log.ts';
import { differencesIn, missingBefore, readLog, unfoldedEntries } from './unfolded-entries.ts';
import { maxReadInMilliseconds } from './read-margin.ts';
import type { Difference, View } from './select-members.ts';
import { joinEdge, NodeGoneError, StoredNodes, type Tree } from './stored-nodes.ts';

/** How often a read starts again before a missing node counts as damage. */
const maxRestarts = 5;

/** All lists of an index at one moment. */
export interface Snapshot {
  head: Head;
  unfolded: readonly LogEntry[];
  /** Returns how the members of a tree differ from the tree. */
  differences: (tree: string) => readonly Difference[];
  /** Returns a tree with the changes that it does not contain yet. Reads its root if that was not read with the head. */
  view: (tree: string) => Promise<View>;
  /** Returns the newest part of a list and the number at which it begins. It has been read with the head. */
  newest: (list: string) => { view: View; from: number };
}

/**
 * Calls `read` with a snapshot. It contains every change that was acknowledged before, and of each other change either all or
 * nothing. Calls it again with a new one if the read has taken too long. A snapshot takes one round trip, which requests that come
 * at the same time share.
 * @param options.roots the ids of the trees whose roots are read at the same time
 * @param options.alsoRead another read that is made at the same time
 */
export async function withSnapshot<T, B = undefined>(
  table: Table,
  index: ListIndex,
  read: (snapshot: Snapshot, also: B | undefined) => Promise<T>,
  { roots = [], alsoRead }: { roots?: readonly string[]; alsoRead?: (() => Promise<B>) | undefined } = {},
): Promise<T> {
  const deadline = deadlineOf(table);
  const what = [indexKeys.partition(index), ...roots].join(' ');
  const readAnew = () => readIndex(table, index, roots);
  const awaited = new Set<string>();
  for (let attempt = 1; ; attempt++) {
    const startedAt = steadyTimeOf(clockOf(table));
    let failure: unknown;
    try {
      const [indexRead, also] = await Promise.all([indexReads.share(table, what, readAnew), alsoRead?.()]);
      assertNotTorn(index, indexRead, awaited);
      const result = await read(snapshotOf(table, index, indexRead), also);
      if (steadyTimeOf(clockOf(table)) - startedAt <= maxReadInMilliseconds) return result;
      failure = new Error(`A read of ${index.scope} took longer than ${maxReadInMilliseconds} ms.`);
    } catch (error) {
      if (!(error instanceof TornReadError || error instanceof NodeGoneError) || attempt > maxRestarts) throw error;
      failure = error;
    }
    await deadline.pause(attempt, failure);
  }
}

/** Thrown if what was read is of two moments, such as a step without the step that it comes after. */
export class TornReadError extends Error {
  override readonly name = 'TornReadError';
}

/** What is read of an index at one moment. Requests share it, so nobody may change it. */
interface IndexRead extends Pick<Snapshot, 'head' | 'unfolded' | 'differences'> {
  /** The steps that others come after, and that are neither in the log nor folded. */
  missing: readonly string[];
  /** The newest root of each tree that was read ahead. */
  newestRoots: ReadonlyMap<string, Item | undefined>;
}

const indexReads = new SharedReads<IndexRead>();

async function readIndex(table: Table, index: ListIndex, prefetched: readonly string[]): Promise<IndexRead> {
  const [headItem, entries, roots] = await Promise.all([
    getItem(table, indexKeys.head(index)),
    readLog(table, index),
    Promise.all(prefetched.map(async (tree) => [tree, await newestRoot(table, index, tree)] as const)),
  ]);
  const head = parseHead(headItem);
  const unfolded = unfoldedEntries(head, entries);
  const known = new Map<string, Difference[]>();
  const differences = (treeId: string) => {
    const ofTree = known.get(treeId) ?? differencesIn(index, treeId, unfolded);
    known.set(treeId, ofTree);
    return ofTree;
  };
  return {
    head,
    unfolded,
    differences,
    missing: missingBefore(head, entries),
    newestRoots: new Map(roots),
  };
}

function snapshotOf(table: Table, index: ListIndex, { head, unfolded, differences, newestRoots }: IndexRead): Snapshot {
  const source = new StoredNodes(table, index);
  const viewOf = (tree: Tree, treeId: string): View => ({ tree, source, differences: differences(treeId) });
  return {
    head,
    unfolded,
    differences,
    view: async (treeId) => viewOf(await readTree(table, index, head, treeId, newestRoots.get(treeId)), treeId),
    newest: (treeId) => newestPart(head, treeId, viewOf),
  };
}

/**
 * Asserts that no step was read without the step that it comes after.
 * @param awaited the steps that an earlier read lacked. What this one lacks too was folded and deleted before (readWholeLog).
 */
function assertNotTorn({ scope }: ListIndex, { missing }: IndexRead, awaited: Set<string>): void {
  const newlyMissing = missing.filter((each) => !awaited.has(each));
  if (newlyMissing.length === 0) return;
  for (const each of newlyMissing) awaited.add(each);
  throw new TornReadError(`The log of ${scope} changed while it was read.`);
}

function newestPart(head: Head, treeId: string, viewOf: (tree: Tree, treeId: string) => View): { view: View; from: number } {
  const { tree, from } = newestInHead(head, treeId);
  const all = viewOf(tree, treeId);
  return { view: { ...all, differences: all.differences.filter(({ number }) => number >= from) }, from };
}

/** The right edge of a tree, from its root on. In the tree of a list, the lower part of the edge is in the head instead. */
const storedRoot = v.object({ sk: v.string(), edge: v.array(storedBytes) });

async function newestRoot(table: Table, index: ListIndex, tree: string): Promise<Item | undefined> {
  const options = { limit: 1, newestFirst: true };
  const [item] = await queryPrefix(table, indexKeys.partition(index), indexKeys.rootPrefix(tree), options);
  return item;
}

/** Reads the right edge of a tree. @param newest the newest root, which another fold may have written */
export async function readTree(table: Table, index: ListIndex, head: Head, tree: string, newest?: Item): Promise<Tree> {
  const name = head.roots[tree];
  if (name === undefined) return joinEdge(edgeInHead(head, tree));
  const key = indexKeys.root(index, tree, name);
  const item = newest?.['sk'] === key.sk ? newest : await getItem(table, key);
  if (!item) throw new NodeGoneError(`The root ${key.sk} of ${index.scope} is gone.`);
  const { edge } = parseStored(storedRoot, item, 'root of a list');
  return joinEdge(edgeInHead(head, tree, edge));
}

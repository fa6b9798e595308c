import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { changeTree } from './change-tree.ts';
import { commitHead, type Head, readHead } from './head.ts';
import { type IndexedList, memberOfRow, treeIdsOf } from './indexed-list.ts';
import type { ListIndex } from './log.ts';
import { afterAllNumbers, comparePlaces, countsOf, type Member, placeName } from './node.ts';
import { transactionShowsInMilliseconds } from './read-margin.ts';
import { decodeEdge, divideEdge, encodeEdge, NodeGoneError, nodeItems, StoredNodes } from './stored-nodes.ts';
import { firstStates, readWholeLog, unfoldedEntries } from './unfolded-entries.ts';
import { foldName } from './write-fold.ts';
import { indexKeys, type Key, listKeys } from '../table/keys.ts';
import { parseStored, storedBytes } from '../table/parse-stored.ts';
import { clockOf, getItem, type Item, queryBetween, type Table } from '../table/table.ts';
import { deleteItemIf, deleteItems, putItemIf, putItems } from '../table/writes.ts';

const membersPerStep = 2_000;

/**
 * Builds the trees of an index from the rows of its lists, step by step, while the lists change. The head says that the index is being
 * built (rebuild.ts), so nothing is folded: the changes stay in the log until the trees are complete.
 *   1. The rows are entered. Some of them have changed since they were read, and some before that: the log says which.
 *   2. The members that the log mentions get the state that they had before. So trees and log together are exact, as before. This
 *      begins two seconds after the last row was read: a change whose row was read must be in the log by then.
 *   3. The head is replaced.
 * May be repeated, and may die at any call. Of two runners, the one that takes a step last continues.
 * @param lists all lists of one index
 * @returns the rows that this step entered; undefined if the index is not being built
 * @throws TakenOverError
 */
export async function buildTrees(table: Table, lists: readonly [IndexedList, ...IndexedList[]]): Promise<number | undefined> {
  const { index } = lists[0];
  const stored = await readBuild(table, index);
  const head = await readHead(table, index);
  if (head.held !== 'building') {
    if (stored) await dropBuild(table, index, stored);
    return undefined;
  }
  const build = await beginBuild(table, index, head, stored);
  if (build.stage === 'rows') return await enterRows(table, lists, build);
  if (build.stage === 'log') return await enterLogged(table, lists, build, head);
  await commit(table, index, build, head);
  return 0;
}

async function enterRows(table: Table, lists: readonly [IndexedList, ...IndexedList[]], build: Build): Promise<number> {
  const list = lists[build.list] ?? lists[0];
  const from = listKeys.row(list.rows, build.number + 1);
  const rows = await queryBetween(table, from, listKeys.row(list.rows, afterAllNumbers), { limit: membersPerStep });
  const members = rows.map((row) => memberOfRow(list, row));
  await enter(table, list, build, members, progressAfter(lists, build, members));
  return rows.length;
}

type Progress = Pick<Build, 'stage' | 'list' | 'number'>;

function progressAfter(lists: readonly IndexedList[], { list }: Build, members: readonly Member[]): Progress {
  const last = members.at(-1);
  if (last && members.length === membersPerStep) return { stage: 'rows', list, number: last.number };
  return list + 1 < lists.length ? { stage: 'rows', list: list + 1, number: 0 } : { stage: 'log', list: 0, number: 0 };
}

/**
 * Sets the next members that the log mentions to their state before the unfolded changes. A member that first appears in the log
 * after all rows were read needs nothing: the trees already contain its state before that change.
 */
async function enterLogged(
  table: Table,
  lists: readonly [IndexedList, ...IndexedList[]],
  build: Build,
  head: Head,
): Promise<number> {
  const { index } = lists[0];
  if (build.list === 0 && build.number === 0) await clockOf(table).wait(transactionShowsInMilliseconds);
  const unfolded = unfoldedEntries(head, await readWholeLog(table, index, head));
  for (const [at, list] of lists.entries()) {
    if (at < build.list) continue;
    const isAhead = ({ number }: Member) => at > build.list || number > build.number;
    const ahead = firstStates(list.tree, unfolded).filter(isAhead);
    const numbers = [...new Set(ahead.map(({ number }) => number))].sort((a, b) => a - b).slice(0, membersPerStep);
    const last = numbers.at(-1);
    if (last === undefined) continue;
    const members = ahead.filter(({ number }) => number <= last);
    await enter(table, list, build, members, { stage: 'log', list: at, number: last });
    return 0;
  }
  await commit(table, index, await putBuild(table, index, build, { ...build, stage: 'complete' }), head);
  return 0;
}

/** Sets members of a list in its trees, in new nodes, and records the step. @throws TakenOverError */
async function enter(
  table: Table,
  list: IndexedList,
  build: Build,
  members: readonly Member[],
  progress: Progress,
): Promise<void> {
  const { index } = list;
  const source = new StoredNodes(table, index);
  const edges = { ...build.edges };
  const items: (Item & Key)[] = [];
  const dropped: string[] = [];
  for (const treeId of members.length > 0 ? treeIdsOf(list) : []) {
    const tree = decodeEdge(edges[treeId] ?? []);
    const changed = await changeTree(tree, toSetIn(treeId, list, members), source).catch(async (error: unknown) => {
      // A step that another runner has recorded has deleted what it replaced.
      const isTaken = error instanceof NodeGoneError && (await readBuild(table, index))?.written_as !== build.written_as;
      throw isTaken ? new TakenOverError(index) : error;
    });
    edges[treeId] = encodeEdge(changed.tree);
    items.push(...nodeItems(index, changed.written));
    dropped.push(...changed.dropped);
  }
  const writing = items.map(({ sk }) => sk);
  const begun = items.length > 0 ? await putBuild(table, index, build, { ...build, writing }) : build;
  await putItems(table, items);
  await putBuild(table, index, begun, { ...begun, ...progress, edges, steps: build.steps + 1, writing: [] });
  await deleteItems(
    table,
    dropped.map((id) => indexKeys.node(index, id)),
  );
}

/** Commits the head that follows `before`, with the trees of a complete build, which nobody changes any more. */
async function commit(table: Table, index: ListIndex, build: Build, before: Head): Promise<void> {
  const name = foldName(before.version + 1, build.id);
  const { head, roots } = headOfTrees(index, before, Object.entries(build.edges), name);
  await putItems(table, roots);
  await commitHead(table, index, { ...head, held: 'cleaning' });
  await dropBuild(table, index, build);
}

/** Returns the changes of one of the list's trees that set these members. A member with a state counts before one without. */
export function toSetIn(treeId: string, list: IndexedList, members: readonly Member[]): Member[] {
  const places = new Map<string, Member>();
  for (const member of members) {
    const placed = treeId === list.tree ? { ...member, group: '' } : member;
    const place = placeName(placed);
    if (member.state > 0 || !places.has(place)) places.set(place, placed);
  }
  return [...places.values()].sort(comparePlaces);
}

/**
 * Returns the head that follows `before` with other trees, and the items of their roots, which are to be written before it.
 * @param edges the right edge of each tree, by its id
 * @param name the name of the roots
 */
export function headOfTrees(
  index: ListIndex,
  before: Head,
  edges: Iterable<[treeId: string, edge: Uint8Array[]]>,
  name: string,
): { head: Head; roots: (Item & Key)[] } {
  const head: Head = { ...before, version: before.version + 1, totals: {}, leaves: {}, branches: {}, roots: {} };
  const roots: (Item & Key)[] = [];
  for (const [treeId, edge] of edges) {
    const isList = treeId in index.trees;
    const tree = decodeEdge(edge);
    const { upper, branch, leaf } = divideEdge(tree, isList);
    if (isList) head.totals[treeId] = [...countsOf(tree)];
    if (leaf) head.leaves[treeId] = leaf;
    if (branch) head.branches[treeId] = branch;
    if (upper.length === 0) continue;
    head.roots[treeId] = name;
    roots.push({ ...indexKeys.root(index, treeId, name), edge: upper });
  }
  return { head, roots };
}

/** The progress of building the trees of an index (build-trees.ts): the trees so far. */
const storedBuild = v.object({
  /** Names this build: the names of its roots contain it. */
  id: v.string(),
  /** The version of the head that it began with. It is of no use with another one. */
  head: v.number(),
  /** Milliseconds since 1970. */
  begun_at: v.number(),
  /** Another one with each write. So a runner finds out if another one has written since. */
  written_as: v.string(),
  /** The number of steps that are done. */
  steps: v.number(),
  /** What is entered into the trees: the rows, then what the log mentions. In the last stage, no tree changes any more. */
  stage: v.picklist(['rows', 'log', 'complete']),
  /** The list that is entered, and the last number that the trees contain. */
  list: v.number(),
  number: v.number(),
  /** The right edges of the trees, by their ids. */
  edges: v.record(v.string(), v.array(storedBytes)),
  /** The nodes that the step at work writes. They are deleted if it dies. */
  writing: v.array(v.string()),
});
export type Build = v.InferOutput<typeof storedBuild>;

/** Thrown if another runner continues a build in place of this one. */
export class TakenOverError extends Error {
  override readonly name = 'TakenOverError';

  constructor({ scope }: ListIndex) {
    super(`Another runner builds the index ${scope}, and continues in place of this one.`);
  }
}

export async function readBuild(table: Table, index: ListIndex): Promise<Build | undefined> {
  const item = await getItem(table, indexKeys.build(index));
  return item && parseStored(storedBuild, item, 'build of an index');
}

/**
 * Returns the build that continues the stored one, or a new one if that is of another head. Takes over a step that is at work, so
 * that it cannot be recorded any more, and deletes its nodes.
 * @throws TakenOverError
 */
async function beginBuild(table: Table, index: ListIndex, head: Head, stored: Build | undefined): Promise<Build> {
  if (stored?.head !== head.version) return await putBuild(table, index, stored, newBuild(table, head));
  if (stored.writing.length === 0) return stored;
  const taken = await putBuild(table, index, stored, stored);
  await deleteNodes(table, index, stored.writing);
  return taken;
}

function newBuild(table: Table, { version }: Head): Build {
  const progress = { steps: 0, stage: 'rows', list: 0, number: 0, edges: {}, writing: [] } as const;
  return { id: newName(), head: version, begun_at: clockOf(table).now(), written_as: '', ...progress, writing: [] };
}

function newName(): string {
  return randomBytes(6).toString('base64url');
}

/**
 * Replaces the stored build, unless it has been replaced since it was read.
 * @returns the build as it is stored now
 * @throws TakenOverError after the nodes of the step at work are deleted
 */
export async function putBuild(table: Table, index: ListIndex, before: Build | undefined, now: Build): Promise<Build> {
  const next = { ...now, written_as: newName() };
  const unchanged = before
    ? { ConditionExpression: 'written_as = :before', ExpressionAttributeValues: { ':before': before.written_as } }
    : { ConditionExpression: 'attribute_not_exists(pk)' };
  if (await putItemIf(table, { ...indexKeys.build(index), ...next }, unchanged)) return next;
  const stored = await readBuild(table, index);
  // The SDK repeats a write whose answer is lost, and the repeat finds the build replaced.
  if (stored?.written_as === next.written_as) return next;
  // A step that is not recorded has its nodes in no tree. If later steps are recorded, this one may be among them.
  if (before && stored?.id === before.id && stored.steps === before.steps) await deleteNodes(table, index, before.writing);
  throw new TakenOverError(index);
}

/** Deletes a build that nobody continues. */
async function dropBuild(table: Table, index: ListIndex, build: Build): Promise<void> {
  const unchanged = { ConditionExpression: 'written_as = :read', ExpressionAttributeValues: { ':read': build.written_as } };
  await deleteItemIf(table, indexKeys.build(index), unchanged);
}

async function deleteNodes(table: Table, index: ListIndex, ids: readonly string[]): Promise<void> {
  await deleteItems(
    table,
    ids.map((id) => indexKeys.node(index, id)),
  );
}

import { indexKeys } from '../table/index-keys.ts';
import { listKeys, type Key } from '../table/keys.ts';
import { clockOf, queryBetween, type Item, type Table } from '../table/table.ts';
import { deleteItems, putItems } from '../table/writes.ts';
import { beginBuild, dropBuild, putBuild, readBuild, TakenOverError, type Build } from './build.ts';
import { changeTree } from './change-tree.ts';
import type { Head } from './head.ts';
import { headOfTrees } from './head-of-trees.ts';
import { memberOfRow, treeIdsOf, type IndexedList } from './indexed-list.ts';
import type { ListIndex } from './list-index.ts';
import { afterAllNumbers, comparePlaces, placeName, type Member } from './node.ts';
import { readWholeLog } from './read-log.ts';
import { transactionShowsInMilliseconds } from './read-margin.ts';
import { commitHead, readHead } from './stored-head.ts';
import { NodeGoneError, nodeItems, StoredNodes } from './stored-nodes.ts';
import { decodeEdge, encodeEdge } from './tree.ts';
import { firstStates, unfoldedEntries } from './unfolded.ts';
import { foldName } from './write-fold.ts';

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

import { log } from '../runtime/log.ts';
import { indexKeys, keyOfItem } from '../table/keys.ts';
import { clockOf, queryPartition, queryPrefix, type Table } from '../table/table.ts';
import { deleteItems } from '../table/writes.ts';
import { buildTrees, readBuild } from './build-trees.ts';
import { deleteDeadNodes } from './dead-nodes.ts';
import { markIndex } from './fold-schedule.ts';
import { foldChanges } from './fold.ts';
import type { IndexedList } from './indexed-list.ts';
import type { ListIndex } from './log.ts';
import { isLeaf, type TreeNode } from './node.ts';
import { stayInMilliseconds } from './read-margin.ts';
import { childOf } from './select-members.ts';
import { readTree } from './snapshot.ts';
import { commitHead, readHead } from './head.ts';
import { StoredNodes } from './stored-nodes.ts';

type Lists = readonly [IndexedList, ...IndexedList[]];

/**
 * Rebuilds the trees of an index from the rows, while the service runs. Nothing is folded until the end: reads stay exact, and
 * take longer the more changes there are. If it dies, the next call continues where it was. Of two at once, the last one continues.
 * @param lists all lists of one index
 * @param onRows called with the number of rows that a step has entered
 * @param options.isAnew whether to begin anew where another rebuild has entered rows already
 * @throws TakenOverError
 */
export async function rebuildIndex(
  table: Table,
  lists: Lists,
  onRows: (rows: number) => void,
  { isAnew = false } = {},
): Promise<void> {
  const { index } = lists[0];
  // Cleans up after a rebuild that died when its trees were complete. This one reads all rows again.
  await clean(table, index);
  if (isAnew) await deleteItems(table, [indexKeys.build(index)]);
  await foldAll(table, index);
  await holdFolds(table, index);
  for (let rows; (rows = await buildTrees(table, lists)) !== undefined;) onRows(rows);
  await clean(table, index);
  await foldAll(table, index);
}

/**
 * Folds the log. Before a rebuild, so that rows count that were changed without the log after their last logged change. A damaged tree
 * cannot be folded, and is rebuilt nevertheless.
 */
async function foldAll(table: Table, index: ListIndex): Promise<void> {
  try {
    for (let part = await foldChanges(table, index, 1); part.folded > 0 && part.folded < part.steps;) {
      part = await foldChanges(table, index, 1);
    }
  } catch (error) {
    log('WARN', 'The changes of a list were not folded around its rebuild.', { index: index.scope }, error);
  }
}

/** What a rebuild that has not ended has done so far. */
export interface Progress {
  /** Milliseconds since 1970. */
  begunAt: number;
  /** The list whose rows it reads, and its last row; absent when it has read all rows. */
  list?: IndexedList | undefined;
  number: number;
}

/** Returns how far the rebuild has come that the next one continues; undefined if there is none. */
export async function readProgress(table: Table, lists: Lists): Promise<Progress | undefined> {
  const { index } = lists[0];
  const [build, head] = [await readBuild(table, index), await readHead(table, index)];
  if (head.held !== 'building' || build?.head !== head.version) return undefined;
  return { begunAt: build.begun_at, list: build.stage === 'rows' ? lists[build.list] : undefined, number: build.number };
}

async function holdFolds(table: Table, index: ListIndex): Promise<void> {
  for (;;) {
    const head = await readHead(table, index);
    if (head.held !== undefined) return;
    if (await commitHead(table, index, { ...head, version: head.version + 1, held: 'building' })) return;
    // A fold has come in between.
  }
}

/**
 * Deletes the nodes and roots that the new trees do not contain, when no read needs them any more, and lets folds go on. Leaves
 * everything as it is if another rebuild has done so.
 */
async function clean(table: Table, index: ListIndex): Promise<void> {
  const clock = clockOf(table);
  const head = await readHead(table, index);
  if (head.held !== 'cleaning') return;
  await clock.wait(stayInMilliseconds);
  const treeIds = Object.entries(index.trees)
    .flat()
    .filter((treeId) => treeId !== undefined);
  const used = new Set<string>();
  // A tree of two levels has no root of its own, since the head has its right edge.
  for (const treeId of treeIds) await addNodes(table, index, await readTree(table, index, head, treeId), used);
  const attributes = ['pk', 'sk'];
  const stored = (
    await Promise.all(indexKeys.nodeShards(index).map((shard) => queryPartition(table, shard, { attributes })))
  ).flat();
  const roots = (
    await Promise.all(
      treeIds.map((treeId) => queryPrefix(table, indexKeys.partition(index), indexKeys.rootPrefix(treeId), { attributes })),
    )
  ).flat();
  const usedRoots = new Set(Object.entries(head.roots).map(([treeId, name]) => indexKeys.root(index, treeId, name).sk));
  const unused = [
    ...stored.filter(({ sk }) => !used.has(String(sk))),
    ...roots.filter(({ sk }) => !usedRoots.has(String(sk))),
  ].map(keyOfItem);
  // If the head is unchanged, no fold has written nodes since they were listed.
  if ((await readHead(table, index)).version !== head.version) return;
  await deleteItems(table, unused);
  await deleteDeadNodes(table, index);
  await markIndex(table, index);
  const { held: _, ...free } = head;
  await commitHead(table, index, { ...free, version: head.version + 1 });
}

const nodesAtOnce = 100;

/** Adds the identifiers of all stored nodes of a tree. Reads no leaves. */
async function addNodes(table: Table, index: ListIndex, tree: TreeNode, used: Set<string>): Promise<void> {
  const open: TreeNode[] = [tree];
  for (let nodes = open.splice(0, nodesAtOnce); nodes.length > 0; nodes = open.splice(0, nodesAtOnce)) {
    const source = new StoredNodes(table, index);
    const below = nodes.flatMap((node) => (isLeaf(node) ? [] : node.children.map((child) => ({ child, level: node.level - 1 }))));
    for (const { child } of below) if (child.id !== undefined) used.add(indexKeys.node(index, child.id).sk);
    const inner = below.filter(({ level }) => level > 0);
    open.push(...(await Promise.all(inner.map(({ child }) => childOf(child, source)))));
  }
}

import { systemClock } from '../clock.ts';
import { indexKeys } from '../table/index-keys.ts';
import { queryPartition, queryPrefix, type Table } from '../table/table.ts';
import { deleteItems } from '../table/writes.ts';
import { carryOver } from './carry-over.ts';
import type { Head } from './head.ts';
import type { IndexedList } from './indexed-list.ts';
import type { ListIndex } from './list-index.ts';
import { isLeaf, type TreeNode } from './node.ts';
import { hasOldMembers, isCarriedOver } from './old-lists.ts';
import { stayInMilliseconds } from './read-margin.ts';
import { childOf } from './select-members.ts';
import { readTree } from './snapshot.ts';
import { commitHead, readHead } from './stored-head.ts';
import { StoredNodes } from './stored-nodes.ts';

/**
 * Rebuilds the trees of an index from the rows, while the service runs. Nothing is folded until the end: reads stay exact, and
 * take longer the more changes there are. If it dies, the next call continues where it was.
 * @param lists all lists of one index
 * @param onRows called with the number of rows that a step has entered
 * @throws Error if the lists of an earlier version are not carried over yet
 */
export async function rebuildIndex(
  table: Table,
  lists: readonly [IndexedList, ...IndexedList[]],
  onRows: (rows: number) => void,
): Promise<void> {
  const { index } = lists[0];
  const head = await readHead(table, index);
  if (head.held === undefined) await holdFolds(table, index, head);
  for (let rows = await carryOver(table, lists); rows !== undefined; rows = await carryOver(table, lists)) onRows(rows);
  await clean(table, index);
}

async function holdFolds(table: Table, index: ListIndex, head: Head): Promise<void> {
  if (head.version === 0 && (await hasOldMembers(table, index)) && !(await isCarriedOver(table))) {
    throw new Error(`The migration has not reached ${index.scope} yet, which builds its index in any case.`);
  }
  const isHeld = await commitHead(table, index, { ...head, version: head.version + 1, held: 'building' });
  if (!isHeld) await rebuildAgain(table, index);
}

/** A fold has come in between. */
async function rebuildAgain(table: Table, index: ListIndex): Promise<void> {
  const head = await readHead(table, index);
  if (head.held === undefined) await holdFolds(table, index, head);
}

/** Deletes the nodes and roots that the new trees do not contain, when no read needs them any more, and lets folds go on. */
async function clean(table: Table, index: ListIndex): Promise<void> {
  const clock = table.clock ?? systemClock;
  const head = await readHead(table, index);
  if (head.held !== 'cleaning') throw new Error(`Another rebuild of ${index.scope} is at work.`);
  await clock.wait(stayInMilliseconds);
  const letters = Object.entries(index.trees)
    .flat()
    .filter((letter) => letter !== undefined);
  const used = new Set<string>();
  // A tree of two levels has no root of its own, since the head has its right edge.
  for (const letter of letters) await addNodes(table, index, await readTree(table, index, head, letter), used);
  const attributes = ['pk', 'sk'];
  const stored = (
    await Promise.all(indexKeys.nodeShards(index).map((shard) => queryPartition(table, shard, { attributes })))
  ).flat();
  const roots = (
    await Promise.all(
      letters.map((letter) => queryPrefix(table, indexKeys.partition(index), indexKeys.rootPrefix(letter), { attributes })),
    )
  ).flat();
  const usedRoots = new Set(Object.entries(head.roots).map(([letter, name]) => indexKeys.root(index, letter, name).sk));
  const unused = [
    ...stored.filter(({ sk }) => !used.has(String(sk))),
    ...roots.filter(({ sk }) => !usedRoots.has(String(sk))),
  ].map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) }));
  await deleteItems(table, unused);
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
    for (const { child } of below) if (child.id !== undefined) used.add(child.id);
    const inner = below.filter(({ level }) => level > 0);
    open.push(...(await Promise.all(inner.map(({ child }) => childOf(child, source)))));
  }
}

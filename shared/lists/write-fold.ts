import { randomBytes } from 'node:crypto';
import { momentOf, type Moment } from '../runtime/clock.ts';
import { inParallel } from '../runtime/in-parallel.ts';
import { indexKeys, type Key } from '../table/keys.ts';
import { clockOf, type Item, type Table } from '../table/table.ts';
import { putItems } from '../table/writes.ts';
import { changeTree, type ChangedTree, type MemberToSet } from './change-tree.ts';
import { recordPlan, type FoldPlan } from './clear-fold.ts';
import { countDays, moveOldDays, readDaysNotIn } from './days.ts';
import { DeadNodes } from './dead-nodes.ts';
import type { Head } from './head.ts';
import { countSteps } from './least-steps.ts';
import type { ListIndex, LogEntry } from './log.ts';
import { countsOf, placeName, type TreeNode } from './node.ts';
import { stayInMilliseconds } from './read-margin.ts';
import type { Difference } from './select-members.ts';
import { readTree } from './snapshot.ts';
import { divideEdge, nodeItems, replaceNode, StoredNodes, type Tree } from './stored-nodes.ts';
import { differencesOf, versionsOf } from './unfolded-entries.ts';

const callsAtOnce = 25;

/** Names sort by the version of the head that they commit. */
export function foldName(version: number, distinct: string): string {
  return `${String(version).padStart(15, '0')}-${distinct}`;
}

export interface WrittenFold {
  name: string;
  plan: FoldPlan;
  /** The head that commits the fold. */
  head: Head;
  /** Whose places the new nodes have taken. */
  dead: DeadNodes;
  /** Before the first write. */
  begunAt: Moment;
  /** The members that were not in the state that they changed from: tree, group and number. */
  drifted: string[];
}

/**
 * Writes the new nodes of all trees. Nothing refers to them until the head is committed.
 * @param head the head of the next version, still with the trees of the one before
 * @param fold.part the log entries to fold
 */
export async function writeFold(
  table: Table,
  index: ListIndex,
  head: Head,
  { part, now }: { part: readonly LogEntry[]; now: number },
): Promise<WrittenFold> {
  const begunAt = momentOf(clockOf(table));
  const name = foldName(head.version, randomBytes(6).toString('base64url'));
  const dead = await DeadNodes.read(table, index, countSteps(part));
  const trees = await changeTrees(table, index, head, { part, dead });
  const { plan, items, ...parts } = replaceTrees(index, head, trees, { name, dead });
  const counted = countDays(head.days, part, await readDaysNotIn(table, index, head.days, part));
  const keptBefore = now - stayInMilliseconds;
  const moved = { head: head.version - 1, days: { before: head.days, now: counted } };
  const days = await moveOldDays(table, index, moved, { now, keptBefore });
  const folds: Head['folds'] = [...head.folds, { name, stage: 'committed', at: now, entries: versionsOf(part) }];
  if (items.length > 0 || plan.replacing.length > 0 || plan.dropped.length > 0 || plan.roots_dropped.length > 0) {
    await recordPlan(table, index, name, plan);
    await putItems(table, items);
    await replaceNodes(table, index, trees, dead);
  }
  const drifted = trees.flatMap(({ treeId, unexpected }) => unexpected.map((place) => `${treeId} ${placeName(place)}`));
  return { name, plan, head: { ...head, ...parts, days, folds }, dead, begunAt, drifted };
}

interface ReplacedTree extends ChangedTree {
  treeId: string;
  before: Tree;
}

/** Returns the trees that differ, with their changes. */
async function changeTrees(
  table: Table,
  index: ListIndex,
  head: Head,
  { part, dead }: { part: readonly LogEntry[]; dead: DeadNodes },
): Promise<ReplacedTree[]> {
  const source = new StoredNodes(table, index);
  return await Promise.all(
    [...changesOf(index, part)]
      .filter(([, ofTree]) => ofTree.length > 0)
      .map(async ([treeId, ofTree]) => {
        const before = await readTree(table, index, head, treeId);
        return { treeId, before, ...(await changeTree(before, ofTree, source, dead.newId)) };
      }),
  );
}

/** Returns the changes of each tree as the log has them. */
function changesOf(index: ListIndex, part: readonly LogEntry[]): Map<string, MemberToSet[]> {
  const toSet = ({ group, number, before, now: state }: Difference) => ({ group, number, before, state });
  return new Map([...differencesOf(index, part)].map(([treeId, differences]) => [treeId, differences.map(toSet)]));
}

type PartsOfHead = Pick<Head, 'totals' | 'leaves' | 'branches' | 'roots'>;

/** Returns the parts of the head with the new trees, the items to write for them, and the plan of both. */
function replaceTrees(
  index: ListIndex,
  head: Head,
  trees: readonly ReplacedTree[],
  { name, dead }: { name: string; dead: DeadNodes },
): PartsOfHead & { plan: FoldPlan; items: (Item & Key)[] } {
  const totals = { ...head.totals };
  const leaves = { ...head.leaves };
  const branches = new Map(Object.entries(head.branches));
  const roots = new Map(Object.entries(head.roots));
  const plan: FoldPlan = { version: head.version, written: [], replacing: [], dropped: [], roots_written: [], roots_dropped: [] };
  const items: (Item & Key)[] = [];
  for (const { treeId, before, tree, written, dropped } of trees) {
    const isList = treeId in index.trees;
    const { upper, branch, leaf } = divideEdge(tree, isList);
    if (isList) totals[treeId] = [...countsOf(tree)];
    if (leaf) leaves[treeId] = leaf;
    branches.delete(treeId);
    if (branch) branches.set(treeId, branch);
    const fresh = [...written].filter(([id]) => !dead.replaced.has(id));
    plan.written.push(...fresh.map(([id]) => id));
    plan.replacing.push(...[...written.keys()].filter((id) => dead.replaced.has(id)));
    plan.dropped.push(...dropped);
    items.push(...nodeItems(index, fresh));
    // It is mostly stored already: new members change no more than the head.
    if (isSameEdge(upper, divideEdge(before, isList).upper)) continue;
    const oldRoot = roots.get(treeId);
    if (oldRoot !== undefined) plan.roots_dropped.push(indexKeys.root(index, treeId, oldRoot).sk);
    roots.delete(treeId);
    if (upper.length === 0) continue;
    const root = indexKeys.root(index, treeId, name);
    roots.set(treeId, name);
    plan.roots_written.push(root.sk);
    items.push({ ...root, edge: upper });
  }
  return { totals, leaves, branches: Object.fromEntries(branches), roots: Object.fromEntries(roots), plan, items };
}

async function replaceNodes(
  table: Table,
  index: ListIndex,
  trees: readonly ReplacedTree[],
  { replaced }: DeadNodes,
): Promise<void> {
  const write = async (node: [string, TreeNode]) => {
    const dead = replaced.get(node[0]);
    if (dead !== undefined) await replaceNode(table, index, dead, node);
  };
  await inParallel(
    trees.flatMap(({ written }) => [...written]),
    write,
    callsAtOnce,
  );
}

function isSameEdge(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  return a.length === b.length && a.every((bytes, at) => Buffer.compare(bytes, b[at] ?? new Uint8Array()) === 0);
}

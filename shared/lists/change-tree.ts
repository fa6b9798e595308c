import { randomBytes } from 'node:crypto';
import { comparePlaces, countsOf, isLeaf, sizesOf, type Child, type Member, type Place, type TreeNode } from './node.ts';
import { emptyTree, type NodeSource, type Tree } from './tree.ts';

/** A node up to this size costs one write unit, keys included. */
const maxNodeBytes = 900;
/** A node below this size is merged with the node beside it. */
const minNodeBytes = 225;
/** The root is stored with other nodes in one item, and every page after the first reads it. */
const maxRootBytes = 6_000;
/** The first item of a node has its group and its whole number, which take up to this much more than in the node before. */
const firstItemBytes = 40;

export interface ChangedTree {
  tree: Tree;
  /** New nodes, by their identifiers. */
  written: Map<string, TreeNode>;
  /** The identifiers of nodes that the new tree no longer contains. */
  dropped: string[];
}

/**
 * Sets the states of members. The old tree stays as it is: the new one shares the nodes that have not changed.
 * @param changes at most one for each place; state 0 removes the member. Sorted by comparePlaces.
 */
export async function changeTree(tree: Tree, changes: readonly Member[], source: NodeSource): Promise<ChangedTree> {
  const dropped: string[] = [];
  const context = { source, dropped };
  let level = await changeNode(tree, changes, { isEdge: true, isRoot: true }, context);
  while (level.length > 1) level = splitNode({ level: levelOf(level) + 1, children: level.map(asChild) }, true, maxRootBytes);
  let root = level[0] ?? emptyTree;
  while (!isLeaf(root) && root.children.length === 1) root = await readChild(root.children[0], context);
  root = await readEdge(root, context);
  const written = new Map<string, TreeNode>();
  nameNewNodes(root, true, written);
  return { tree: root, written, dropped };
}

interface Context {
  source: NodeSource;
  dropped: string[];
}

/** Returns the nodes that replace a node, at its level: none if it is empty, several if it has become too large. */
async function changeNode(
  node: TreeNode,
  changes: readonly Member[],
  { isEdge, isRoot }: { isEdge: boolean; isRoot: boolean },
  context: Context,
): Promise<TreeNode[]> {
  if (isLeaf(node)) return splitNode({ level: 0, members: mergeMembers(node.members, changes) }, isEdge);
  const children = await Promise.all(
    node.children.map(async (child, index): Promise<Child[]> => {
      const next = node.children[index + 1];
      const ofChild = changes.filter(
        (change) => (index === 0 || comparePlaces(change, child.first) >= 0) && (!next || comparePlaces(change, next.first) < 0),
      );
      if (ofChild.length === 0) return [child];
      const place = { isEdge: isEdge && !next, isRoot: false };
      const replaced = await changeNode(await readChild(child, context), ofChild, place, context);
      return replaced.map(asChild);
    }),
  );
  const merged = await mergeSmall(children.flat(), { level: node.level - 1, isEdge }, context);
  return splitNode({ level: node.level, children: merged }, isEdge, isRoot ? maxRootBytes : maxNodeBytes);
}

/** Reads a child that the new tree replaces. */
async function readChild(child: Child | undefined, { source, dropped }: Context): Promise<TreeNode> {
  if (!child) throw new TypeError('An inner node has no children.');
  const node = child.node ?? (child.id === undefined ? undefined : await source.read(child.id));
  if (!node) throw new Error('A stored node lacks the identifier of a child.');
  if (child.id !== undefined) dropped.push(child.id);
  return node;
}

function asChild(node: TreeNode): Child {
  return { first: firstOf(node), counts: countsOf(node), node };
}

function firstOf(node: TreeNode): Place {
  const first = isLeaf(node) ? node.members[0] : node.children[0]?.first;
  if (!first) throw new TypeError('An empty node has no place.');
  return { group: first.group, number: first.number };
}

/** Both sorted. */
function mergeMembers(members: readonly Member[], changes: readonly Member[]): Member[] {
  const merged: Member[] = [];
  let index = 0;
  for (const change of changes) {
    for (let member = members[index]; member && comparePlaces(member, change) < 0; member = members[++index]) merged.push(member);
    const replaced = members[index];
    if (replaced && comparePlaces(replaced, change) === 0) index++;
    if (change.state > 0) merged.push(change);
  }
  return [...merged, ...members.slice(index)];
}

/** Merges new nodes that are too small with the node before or after them. The last node of the edge is the one that is filled next. */
async function mergeSmall(
  children: Child[],
  { level, isEdge }: { level: number; isEdge: boolean },
  context: Context,
): Promise<Child[]> {
  const merged = [...children];
  for (let index = 0; index < merged.length;) {
    const child = merged[index];
    const isSmall = child?.id === undefined && child?.node && sumOfSizes(sizesOf(child.node)) < minNodeBytes;
    const at = index > 0 ? index - 1 : 0;
    const pair = merged.slice(at, at + 2);
    if (!isSmall || pair.length < 2 || (isEdge && index === merged.length - 1)) {
      index++;
      continue;
    }
    const nodes: TreeNode[] = [];
    for (const each of pair) nodes.push(await readChild(each, context));
    const joined = splitNode(joinNodes(nodes, level), false).map(asChild);
    merged.splice(at, 2, ...joined);
    index = at + joined.length;
  }
  return merged;
}

function joinNodes(nodes: readonly TreeNode[], level: number): TreeNode {
  if (level === 0) return { level: 0, members: nodes.flatMap((node) => (isLeaf(node) ? node.members : [])) };
  return { level, children: nodes.flatMap((node) => (isLeaf(node) ? [] : node.children)) };
}

/**
 * Splits a node that is larger than `maxBytes` into nodes of up to 900 bytes. New members mostly come at the right edge: there
 * the left nodes are filled. Elsewhere the parts are equal, so that all have room.
 */
function splitNode(node: TreeNode, isEdge: boolean, maxBytes = maxNodeBytes): TreeNode[] {
  const sizes = sizesOf(node);
  const size = sumOfSizes(sizes);
  if (sizes.length === 0) return [];
  if (size <= (isLeaf(node) ? maxNodeBytes : maxBytes)) return [node];
  const room = maxNodeBytes - firstItemBytes;
  const target = isEdge ? room : size / Math.ceil(size / room);
  const cuts = [0];
  let filled = 0;
  for (const [index, bytes] of sizes.entries()) {
    if (filled > 0 && filled + bytes > target) {
      cuts.push(index);
      filled = 0;
    }
    filled += bytes;
  }
  return cuts.map((cut, index) => sliceOf(node, cut, cuts[index + 1]));
}

function sliceOf(node: TreeNode, start: number, end: number | undefined): TreeNode {
  if (isLeaf(node)) return { level: 0, members: node.members.slice(start, end) };
  return { level: node.level, children: node.children.slice(start, end) };
}

function sumOfSizes(sizes: readonly number[]): number {
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

function levelOf([node]: readonly TreeNode[]): number {
  return node?.level ?? 0;
}

/** Reads the right edge of a tree, where it has moved to nodes that had been stored. */
async function readEdge(node: TreeNode, context: Context): Promise<TreeNode> {
  const last = isLeaf(node) ? undefined : node.children.at(-1);
  if (isLeaf(node) || !last) return node;
  const child = await readEdge(await readChild(last, context), context);
  return { ...node, children: [...node.children.slice(0, -1), { first: last.first, counts: last.counts, node: child }] };
}

/** Gives identifiers to the new nodes that are not on the right edge. */
function nameNewNodes(node: TreeNode, isEdge: boolean, written: Map<string, TreeNode>): void {
  if (isLeaf(node)) return;
  for (const [index, child] of node.children.entries()) {
    const isOnEdge = isEdge && index === node.children.length - 1;
    if (child.id !== undefined || !child.node) continue;
    nameNewNodes(child.node, isOnEdge, written);
    if (isOnEdge) continue;
    child.id = randomBytes(8).toString('base64url');
    written.set(child.id, child.node);
  }
}

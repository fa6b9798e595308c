import {
  type Child,
  countsOf,
  emptyTree,
  indexFrom,
  isLeaf,
  type Member,
  newNodeId,
  sizesOf,
  type State,
  type TreeNode,
} from './node.ts';

/** A node up to this size costs one write unit, keys included. */
const maxNodeBytes = 900;
/** A node below this size is merged with its neighbor. */
const minNodeBytes = 225;
/**
 * The lowest inner node on the right edge is in the head. After a split it still has the leaves of about 20,000 members, so that a
 * page of the newest ones needs no other inner node, also if it is of those in a rare state.
 */
const maxBranchBytes = 1_400;
/** All pages but those of the newest members read the root. With this size, a tree of 13 million members has three levels. */
const maxRootBytes = 12_000;
/** The first item of a node contains its whole number. It takes up to this many bytes more than inside a node. */
const firstItemBytes = 8;

/** Reads stored nodes. Nodes that are asked for at the same time are read together. */
export interface NodeSource {
  read: (id: string) => Promise<TreeNode>;
}

export interface ChangedTree {
  tree: TreeNode;
  /** New nodes, by their identifiers. */
  written: Map<string, TreeNode>;
  /** The identifiers of nodes that the new tree no longer contains. */
  dropped: string[];
  /** The members that were not in the state that they should have been in before. */
  unexpected: number[];
}

/** A member's new state. State 0 removes it. */
export interface MemberToSet extends Member {
  /** The state that it should be in. Default: any. */
  before?: State;
}

/**
 * Sets the states of members. The old tree stays as it is: the new one shares the nodes that have not changed.
 * @param changes at most one for each member, sorted by number
 */
export async function changeTree(tree: TreeNode, changes: readonly MemberToSet[], source: NodeSource): Promise<ChangedTree> {
  const context: Context = { source, dropped: [], unexpected: [] };
  let root = joinLevels((await changeNode(tree, changes, { isEdge: true, isRoot: true }, context)).map(asChild));
  while (!isLeaf(root) && root.children.length === 1) root = await readChild(root.children[0], context);
  root = await readEdge(root, context);
  return { tree: root, written: nameNewNodes(root), dropped: context.dropped, unexpected: context.unexpected };
}

/** Returns the root of a tree with these nodes of one level. The last one is on its right edge. */
export function joinLevels(nodes: readonly Child[]): TreeNode {
  let children = nodes;
  while (children.length > 1) {
    const level = (children.at(-1)?.node?.level ?? 0) + 1;
    children = splitNode({ level, children: [...children] }, { isEdge: true, isRoot: true }).map(asChild);
  }
  return children[0]?.node ?? emptyTree;
}

/** Whether a node is on the right edge of its tree, and whether it is the root. */
interface Position {
  isEdge: boolean;
  isRoot: boolean;
}

interface Context {
  source: NodeSource;
  dropped: string[];
  unexpected: number[];
}

/** Returns the nodes that replace a node, at its level: none if it is empty, several if it has become too large. */
async function changeNode(
  node: TreeNode,
  changes: readonly MemberToSet[],
  position: Position,
  context: Context,
): Promise<TreeNode[]> {
  if (isLeaf(node)) return splitNode({ level: 0, members: mergeMembers(node.members, changes, context) }, position);
  const { isEdge } = position;
  const from = (number: number) => indexFrom(changes, number, (change) => change.number);
  const children = await Promise.all(
    node.children.map(async (child, index): Promise<Child[]> => {
      const next = node.children[index + 1];
      const ofChild = changes.slice(index === 0 ? 0 : from(child.first), next && from(next.first));
      if (ofChild.length === 0) return [child];
      const place = { isEdge: isEdge && !next, isRoot: false };
      return (await changeNode(await readChild(child, context), ofChild, place, context)).map(asChild);
    }),
  );
  const merged = await mergeSmall(children.flat(), { level: node.level - 1, isEdge }, context);
  return splitNode({ level: node.level, children: merged }, position);
}

/** Reads a child that the new tree replaces. */
async function readChild(child: Child | undefined, { source, dropped }: Context): Promise<TreeNode> {
  if (!child) throw new TypeError('An inner node has no children.');
  const node = await childOf(child, source);
  if (child.id !== undefined) dropped.push(child.id);
  return node;
}

/** Returns a child of a node. Reads it if that has not been done. */
export async function childOf({ node, id }: Child, source: NodeSource): Promise<TreeNode> {
  if (node) return node;
  if (id === undefined) throw new Error('A stored node lacks the identifier of a child.');
  return source.read(id);
}

export function asChild(node: TreeNode): Child {
  const first = isLeaf(node) ? node.members[0]?.number : node.children[0]?.first;
  if (first === undefined) throw new TypeError('An empty node has no place.');
  return { first, counts: countsOf(node), node };
}

/** Applies changes to the members of a leaf. Both are sorted. */
function mergeMembers(members: readonly Member[], changes: readonly MemberToSet[], { unexpected }: Context): Member[] {
  const merged: Member[] = [];
  let index = 0;
  for (const { number, state, before } of changes) {
    for (let member = members[index]; member && member.number < number; member = members[++index]) merged.push(member);
    const next = members[index];
    const replaced = next?.number === number ? next : undefined;
    if (replaced) index++;
    if (before !== undefined && before !== (replaced?.state ?? 0)) unexpected.push(number);
    if (state > 0) merged.push({ number, state });
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
    const joined = splitNode(joinNodes(nodes, level), { isEdge: false, isRoot: false }).map(asChild);
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
 * Splits a node that is too large into nodes of up to 900 bytes. New members mostly come at the right edge: there the left nodes
 * are filled, and the last one keeps what is left. Elsewhere the parts are equal, so that all have room.
 */
function splitNode(node: TreeNode, position: Position): TreeNode[] {
  const sizes = sizesOf(node);
  const size = sumOfSizes(sizes);
  if (sizes.length === 0) return [];
  if (size <= maxBytesOf(node, position)) return [node];
  const room = maxNodeBytes - firstItemBytes;
  const target = position.isEdge ? room : size / Math.ceil(size / room);
  const last = maxBytesOf(node, { ...position, isRoot: false });
  const cuts = [0];
  let filled = 0;
  let left = size;
  for (const [index, bytes] of sizes.entries()) {
    const isLast = position.isEdge && filled + left <= last - firstItemBytes;
    if (filled > 0 && filled + bytes > target && !isLast) {
      cuts.push(index);
      filled = 0;
    }
    filled += bytes;
    left -= bytes;
  }
  return cuts.map((cut, index) => sliceOf(node, cut, cuts[index + 1]));
}

function maxBytesOf({ level }: TreeNode, { isEdge, isRoot }: Position): number {
  if (isRoot && level > 1) return maxRootBytes;
  return isEdge && level === 1 ? maxBranchBytes : maxNodeBytes;
}

function sliceOf(node: TreeNode, start: number, end: number | undefined): TreeNode {
  if (isLeaf(node)) return { level: 0, members: node.members.slice(start, end) };
  return { level: node.level, children: node.children.slice(start, end) };
}

function sumOfSizes(sizes: readonly number[]): number {
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

/** Reads the right edge of a tree, where it has moved to nodes that had been stored. */
async function readEdge(node: TreeNode, context: Context): Promise<TreeNode> {
  const last = isLeaf(node) ? undefined : node.children.at(-1);
  if (isLeaf(node) || !last) return node;
  const child = await readEdge(await readChild(last, context), context);
  return { ...node, children: [...node.children.slice(0, -1), { first: last.first, counts: last.counts, node: child }] };
}

/** Gives identifiers to the new nodes that are not on the right edge, and returns these. */
export function nameNewNodes(root: TreeNode): Map<string, TreeNode> {
  const written = new Map<string, TreeNode>();
  const nameBelow = (node: TreeNode, isEdge: boolean): void => {
    if (isLeaf(node)) return;
    for (const [index, child] of node.children.entries()) {
      const isOnEdge = isEdge && index === node.children.length - 1;
      if (child.id !== undefined || !child.node) continue;
      nameBelow(child.node, isOnEdge);
      if (isOnEdge) continue;
      child.id = newNodeId();
      written.set(child.id, child.node);
    }
  };
  nameBelow(root, true);
  return written;
}

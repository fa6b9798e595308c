import {
  asChild,
  asPart,
  emptyTree,
  isLeaf,
  newNodeId,
  type Part,
  rangeOf,
  sizeOf,
  type State,
  stateOf,
  type TreeNode,
  within,
} from './node.ts';

/** The largest node of a counted tree, in bytes. A node of this size costs one write unit, keys included. */
const maxNodeBytes = 900;
/** The size in bytes below which a new node is merged with its neighbour. */
const minNodeBytes = 225;
/**
 * The most bytes of the node that has the newest leaves of a list's tree, which the head of the list contains. After a split it
 * still has the leaves of about 20,000 members, so that a page of the newest members in a rare state needs no other node.
 */
const maxBranchBytes = 1_400;
/** The largest root of a tree, in bytes. With this size, a tree of 13 million members has three levels. */
const maxRootBytes = 12_500;
/**
 * The most bytes that the number of a node adds to the first member or child in it, which is stored with its whole number.
 * Members and children after the first are stored with the difference to the number before.
 */
const firstPartBytes = 8;

/** A source of stored nodes of the tree, by their identifiers. Nodes that are asked for at the same time are read together. */
export interface NodeSource {
  read: (id: string) => Promise<TreeNode>;
}

/**
 * A difference of one member's state between a tree and a later moment, by all of its changes together. State 0: there is no
 * member.
 */
export interface Difference {
  number: number;
  before: State;
  now: State;
}

/**
 * Applies changes of members to a tree, and returns a new tree. The old tree stays as it is, and the new one shares the nodes
 * that have not changed.
 * @param changes at most one for each member, sorted by number
 */
export async function changeTree(tree: TreeNode, changes: readonly Difference[], source: NodeSource) {
  const context: Context = { source, dropped: [], unexpected: [] };
  let root = joinLevels(await changeNode(tree, changes, { isEdge: true, isRoot: true }, context));
  while (!isLeaf(root) && root.parts.length === 1) root = await readChild(root.parts[0], context);
  root = await readEdge(root, context);
  const { dropped, unexpected } = context;
  return { tree: root, written: nameNewNodes(root), dropped, unexpected };
}

function joinLevels(nodes: Part[]): TreeNode {
  let children = nodes;
  while (children.length > 1) {
    const level = (children.at(-1)?.node?.level ?? 0) + 1;
    children = splitNode({ level, parts: children }, { isEdge: true, isRoot: true });
  }
  return children[0]?.node ?? emptyTree;
}

interface Position {
  isEdge: boolean;
  isRoot: boolean;
}

interface Context {
  source: NodeSource;
  dropped: string[];
  unexpected: number[];
}

/**
 * Returns the nodes that replace a node of the tree after changes: none if the node becomes empty, several if it becomes too
 * large.
 */
async function changeNode(node: TreeNode, changes: readonly Difference[], position: Position, context: Context): Promise<Part[]> {
  const { level, parts } = node;
  if (isLeaf(node)) return splitNode({ level, parts: mergeMembers(parts, changes, context.unexpected) }, position);
  const { isEdge } = position;
  const children = await Promise.all(
    parts.map(async (child, index) => {
      const ofChild = within(changes, rangeOf(node, index));
      if (ofChild.length === 0) return [child];
      const place = { isEdge: isEdge && index === parts.length - 1, isRoot: false };
      return await changeNode(await readChild(child, context), ofChild, place, context);
    }),
  );
  const merged = await mergeSmall(children.flat(), { level: level - 1, isEdge }, context);
  return splitNode({ level, parts: merged }, position);
}

async function readChild(child: Part | undefined, { source, dropped }: Context): Promise<TreeNode> {
  if (!child) throw new TypeError('An inner node has no children.');
  const node = await childOf(child, source);
  if (child.id !== undefined) dropped.push(child.id);
  return node;
}

export async function childOf({ node, id }: Part, source: NodeSource): Promise<TreeNode> {
  if (node) return node;
  if (id === undefined) throw new Error('A stored node lacks the identifier of a child.');
  return source.read(id);
}

/**
 * Applies changes to the members of a leaf, both sorted by number.
 * @param unexpected gets the numbers of members that were not in the state that they changed from
 */
export function mergeMembers(members: readonly Part[], changes: readonly Difference[], unexpected: number[] = []): Part[] {
  const merged: Part[] = [];
  let index = 0;
  for (const { number, before, now } of changes) {
    for (let member = members[index]; member && member.number < number; member = members[++index]) merged.push(member);
    const next = members[index];
    const replaced = next?.number === number ? next : undefined;
    if (replaced) index++;
    if (before !== stateOf(replaced)) unexpected.push(number);
    if (now > 0) merged.push(asPart({ number, state: now }));
  }
  return [...merged, ...members.slice(index)];
}

/**
 * Merges new child nodes that are too small with a neighbour. The last node on the right edge stays small, because the next
 * members fill it.
 */
async function mergeSmall(
  children: readonly Part[],
  { level, isEdge }: { level: number; isEdge: boolean },
  context: Context,
): Promise<Part[]> {
  const isSmall = ({ id, node }: Part) => id === undefined && node !== undefined && sumOfSizes(sizesOf(node)) < minNodeBytes;
  const merged: Part[] = [];
  for (const [index, child] of children.entries()) {
    const before = merged.at(-1);
    const isFilledNext = isEdge && index === children.length - 1;
    if (!before || !(isSmall(before) || (isSmall(child) && !isFilledNext))) {
      merged.push(child);
      continue;
    }
    const parts = [...(await readChild(before, context)).parts, ...(await readChild(child, context)).parts];
    merged.splice(-1, 1, ...splitNode({ level, parts }, { isEdge: false, isRoot: false }));
  }
  return merged;
}

/**
 * Splits a node of the tree that is too large. At the right edge, where new members come, the left nodes are filled. Elsewhere
 * the nodes get equal sizes.
 */
function splitNode(node: TreeNode, position: Position): Part[] {
  const { level, parts } = node;
  const sizes = sizesOf(node);
  const size = sumOfSizes(sizes);
  if (sizes.length === 0) return [];
  if (size <= maxBytesOf(level, position)) return [asChild(node)];
  const room = maxNodeBytes - firstPartBytes;
  const target = position.isEdge ? room : size / Math.ceil(size / room);
  const last = maxBytesOf(level, { ...position, isRoot: false });
  const cuts = [0];
  let filled = 0;
  let left = size;
  for (const [index, bytes] of sizes.entries()) {
    const isLast = position.isEdge && filled + left <= last - firstPartBytes;
    if (filled > 0 && filled + bytes > target && !isLast) {
      cuts.push(index);
      filled = 0;
    }
    filled += bytes;
    left -= bytes;
  }
  return cuts.map((cut, index) => asChild({ level, parts: parts.slice(cut, cuts[index + 1]) }));
}

function maxBytesOf(level: number, { isEdge, isRoot }: Position): number {
  if (isRoot && level > 1) return maxRootBytes;
  return isEdge && level === 1 ? maxBranchBytes : maxNodeBytes;
}

const sizesOf = ({ level, parts }: TreeNode): number[] =>
  parts.map((part, index) => sizeOf(part, level, parts[index - 1]?.number));

const sumOfSizes = (sizes: readonly number[]): number => sizes.reduce((sum, bytes) => sum + bytes, 0);

/**
 * Reads the nodes on the right edge of a changed tree that are stored as other nodes are, so that the whole edge is in memory.
 */
async function readEdge(node: TreeNode, context: Context): Promise<TreeNode> {
  const last = isLeaf(node) ? undefined : node.parts.at(-1);
  if (!last) return node;
  const child = await readEdge(await readChild(last, context), context);
  return { ...node, parts: node.parts.with(-1, { number: last.number, counts: last.counts, node: child }) };
}

/**
 * Gives identifiers to the new nodes that are not on the right edge of the tree, and returns these nodes, to be written. The tree
 * keeps only their identifiers.
 */
function nameNewNodes(root: TreeNode): Map<string, TreeNode> {
  const written = new Map<string, TreeNode>();
  const nameBelow = (node: TreeNode, isEdge: boolean): void => {
    for (const [index, child] of node.parts.entries()) {
      const isOnEdge = isEdge && index === node.parts.length - 1;
      if (child.id !== undefined || !child.node) continue;
      nameBelow(child.node, isOnEdge);
      if (isOnEdge) continue;
      child.id = newNodeId();
      written.set(child.id, child.node);
      delete child.node;
    }
  };
  nameBelow(root, true);
  return written;
}

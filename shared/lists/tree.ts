import { countsOf, decodeNode, encodeNode, isLeaf, type TreeNode } from './node.ts';

/** Reads stored nodes. Nodes that are asked for at the same time are read together. */
export interface NodeSource {
  read(id: string): Promise<TreeNode>;
}

/** The root of a tree. The nodes of its right edge, which change most often, have been read: they are stored together. */
export type Tree = TreeNode;

export const emptyTree: Tree = { level: 0, members: [] };

/**
 * Encodes the right edge of a tree, from the root to the last leaf, without the counts that follow from the nodes below. All other
 * nodes are stored by their identifiers.
 */
export function encodeEdge(tree: Tree): Uint8Array[] {
  const edge: Uint8Array[] = [];
  for (let node: TreeNode | undefined = tree; node; node = isLeaf(node) ? undefined : node.children.at(-1)?.node) {
    edge.push(encodeNode(node, true));
  }
  return edge;
}

/** @throws Error if the bytes are not the right edge of a tree; an internal error */
export function decodeEdge(edge: readonly Uint8Array[]): Tree {
  const nodes = edge.map((bytes) => decodeNode(bytes, true));
  const [root] = nodes;
  if (!root) return emptyTree;
  let below: TreeNode | undefined;
  for (const node of nodes.reverse()) {
    const last = isLeaf(node) ? undefined : node.children.at(-1);
    if (below && !last) throw new Error('The stored edge of a tree is too long.');
    if (last && !below) throw new Error('The stored edge of a tree is too short.');
    if (last && below) {
      last.node = below;
      last.counts = countsOf(below);
    }
    below = node;
  }
  return root;
}

/** The parts in which the right edge of a tree is stored. */
export interface StoredEdge {
  /** From the root on, in an item of their own. */
  upper: Uint8Array[];
  /** The lowest inner node and the last leaf of a list's tree, in the head: the newest members are in them. */
  branch?: Uint8Array;
  leaf?: Uint8Array;
}

/** @param isList whether the tree is that of a list, whose newest members are asked for most often */
export function divideEdge(tree: Tree, isList: boolean): StoredEdge {
  const upper = encodeEdge(tree);
  const divided: StoredEdge = { upper };
  const leaf = isList ? upper.pop() : undefined;
  if (leaf) divided.leaf = leaf;
  const branch = isList ? upper.pop() : undefined;
  if (branch) divided.branch = branch;
  if (!isList && tree === emptyTree) upper.pop();
  return divided;
}

export function joinEdge({ upper, branch, leaf }: StoredEdge): Tree {
  return decodeEdge([...upper, ...(branch ? [branch] : []), ...(leaf ? [leaf] : [])]);
}

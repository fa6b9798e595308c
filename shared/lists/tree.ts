import { decodeNode, encodeNode, isLeaf, type TreeNode } from './node.ts';

/** Reads stored nodes. Nodes that are asked for at the same time are read together. */
export interface NodeSource {
  read(id: string): Promise<TreeNode>;
}

/** The root of a tree. The nodes of its right edge, which change most often, have been read: they are stored together. */
export type Tree = TreeNode;

export const emptyTree: Tree = { level: 0, members: [] };

/** Encodes the right edge of a tree, from the root to the last leaf. All other nodes are stored by their identifiers. */
export function encodeEdge(tree: Tree): Uint8Array[] {
  const edge: Uint8Array[] = [];
  for (let node: TreeNode | undefined = tree; node; node = isLeaf(node) ? undefined : node.children.at(-1)?.node) {
    edge.push(encodeNode(node, true));
  }
  return edge;
}

/** @throws Error if the bytes are not the right edge of a tree; an internal error */
export function decodeEdge(edge: readonly Uint8Array[]): Tree {
  const [root, ...below] = edge.map((bytes) => decodeNode(bytes, true));
  if (!root) return emptyTree;
  let parent = root;
  for (const node of below) {
    const last = isLeaf(parent) ? undefined : parent.children.at(-1);
    if (!last) throw new Error('The stored edge of a tree is too long.');
    last.node = node;
    parent = node;
  }
  if (!isLeaf(parent)) throw new Error('The stored edge of a tree is too short.');
  return root;
}

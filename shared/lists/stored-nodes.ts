import * as v from 'valibot';
import type { ListIndex } from './log.ts';
import { attributeOfNode, countsOf, decodeNode, encodeNode, isLeaf, type TreeNode } from './node.ts';
import { batched } from '../table/batched.ts';
import { indexKeys } from '../table/keys.ts';
import { parseStored, storedBytes } from '../table/parse-stored.ts';
import { getItems, type Item, type Table } from '../table/table.ts';
import { deleteItemIf, putItemIf, tryUpdate, updateIf } from '../table/writes.ts';

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

/** Thrown if a node has been deleted since its tree was read, which takes longer than a read may last. */
export class NodeGoneError extends Error {
  override readonly name = 'NodeGoneError';
}

/** Mostly one node. A second one is of a fold that was not committed, or of which not all is deleted. */
const storedNodes = v.object({ nodes: v.record(v.string(), storedBytes) });

/** Reads the nodes of an index. Asks for all nodes that are wanted at the same time in one call, and for each of them once. */
export class StoredNodes implements NodeSource {
  private readonly table: Table;
  private readonly index: ListIndex;
  private readonly found = new Map<string, Promise<TreeNode>>();
  private readonly readBatched = batched((ids: string[]) => this.readAll(ids));

  constructor(table: Table, index: ListIndex) {
    this.table = table;
    this.index = index;
  }

  /** @throws NodeGoneError */
  read(id: string): Promise<TreeNode> {
    const node = this.found.get(id) ?? this.readOne(id);
    this.found.set(id, node);
    return node;
  }

  private async readOne(id: string): Promise<TreeNode> {
    const node = await this.readBatched(id);
    if (!node) throw new NodeGoneError(`The node ${id} of ${this.index.scope} is gone.`);
    return node;
  }

  private async readAll(ids: string[]): Promise<(TreeNode | undefined)[]> {
    const items = await getItems(
      this.table,
      ids.map((id) => indexKeys.node(this.index, id)),
    );
    return items.map((item, at) => item && nodeIn(item, ids[at] ?? ''));
  }
}

/** Returns the items of new nodes. */
export function nodeItems(index: ListIndex, written: Iterable<[string, TreeNode]>) {
  return [...written].map(([id, node]) => nodeItem(index, id, node));
}

function nodeItem(index: ListIndex, id: string, node: TreeNode) {
  return { ...indexKeys.node(index, id), nodes: { [attributeOfNode(id)]: encodeNode(node, false) } };
}

/** Returns a node of an item, if it has the node. */
export function nodeIn(item: Item, id: string): TreeNode | undefined {
  const bytes = parseStored(storedNodes, item, 'node of a list').nodes[attributeOfNode(id)];
  return bytes && decodeNode(bytes, false);
}

/** Writes a node in place of a dead one, which costs no deletion. May be repeated. */
export async function replaceNode(table: Table, index: ListIndex, dead: string, [id, node]: [string, TreeNode]): Promise<void> {
  const key = indexKeys.node(index, id);
  const update = {
    UpdateExpression: `SET nodes.${attributeOfNode(id)} = :node REMOVE nodes.${attributeOfNode(dead)}`,
    ExpressionAttributeValues: { ':node': encodeNode(node, false) },
  };
  const isThere = { ConditionExpression: 'attribute_exists(nodes)' };
  const isGone = { ConditionExpression: 'attribute_not_exists(pk)' };
  // A fold that died, or another one at the same time, may have deleted the dead node.
  while (!(await updateIf(table, key, update, isThere)) && !(await putItemIf(table, nodeItem(index, id, node), isGone)));
}

/** Deletes a node, and leaves another one that has taken its place. May be repeated. */
export async function removeNode(table: Table, index: ListIndex, id: string): Promise<void> {
  const key = indexKeys.node(index, id);
  const path = `nodes.${attributeOfNode(id)}`;
  const isThere = `attribute_exists(${path})`;
  const isAlone = { ConditionExpression: `${isThere} AND size(nodes) = :one`, ExpressionAttributeValues: { ':one': 1 } };
  if (await deleteItemIf(table, key, isAlone)) return;
  await tryUpdate(table, key, { UpdateExpression: `REMOVE ${path}`, ConditionExpression: isThere });
}

import * as v from 'valibot';
import { batched } from '../table/batched.ts';
import { indexKeys } from '../table/index-keys.ts';
import { parseStored, storedBytes } from '../table/parse-stored.ts';
import { getItems, type Item, type Table } from '../table/table.ts';
import { deleteItemIf, putItemIf, tryUpdate, updateIf } from '../table/writes.ts';
import type { ListIndex } from './list-index.ts';
import { attributeOfNode } from './node-ids.ts';
import { decodeNode, encodeNode, type TreeNode } from './node.ts';
import type { NodeSource } from './tree.ts';

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

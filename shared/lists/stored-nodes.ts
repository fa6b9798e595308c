import * as v from 'valibot';
import { batched } from '../table/batched.ts';
import { indexKeys } from '../table/index-keys.ts';
import { parseStored, storedBytes } from '../table/parse-stored.ts';
import { getItems, type Table } from '../table/table.ts';
import type { ListIndex } from './list-index.ts';
import { decodeNode, encodeNode, type TreeNode } from './node.ts';
import type { NodeSource } from './tree.ts';

/** Thrown if a node has been deleted since its tree was read, which takes longer than a read may last. */
export class NodeGoneError extends Error {
  override readonly name = 'NodeGoneError';
}

const storedNode = v.object({ node: storedBytes });

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
    return items.map((item) => item && decodeNode(parseStored(storedNode, item, 'node of a list').node, false));
  }
}

/** Returns the items of new nodes. */
export function nodeItems(index: ListIndex, written: ReadonlyMap<string, TreeNode>) {
  return [...written].map(([id, node]) => ({ ...indexKeys.node(index, id), node: encodeNode(node, false) }));
}

import { indexKeys } from '../table/index-keys.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import * as v from 'valibot';
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
  private wanted: string[] = [];
  private batch: Promise<Map<string, TreeNode>> | undefined;

  constructor(table: Table, index: ListIndex) {
    this.table = table;
    this.index = index;
  }

  /** @throws NodeGoneError */
  read(id: string): Promise<TreeNode> {
    const found = this.found.get(id);
    if (found) return found;
    this.wanted.push(id);
    this.batch ??= nextTurn().then(() => this.readWanted());
    const node = this.batch.then((nodes) => {
      const read = nodes.get(id);
      if (!read) throw new NodeGoneError(`The node ${id} of ${this.index.scope} is gone.`);
      return read;
    });
    this.found.set(id, node);
    return node;
  }

  private async readWanted(): Promise<Map<string, TreeNode>> {
    const ids = this.wanted;
    this.wanted = [];
    this.batch = undefined;
    const items = await getItems(
      this.table,
      ids.map((id) => indexKeys.node(this.index, id)),
    );
    const nodes = new Map<string, TreeNode>();
    for (const [at, item] of items.entries()) {
      const id = ids[at];
      if (item && id !== undefined) nodes.set(id, decodeNode(parseStored(storedNode, item, 'node of a list').node, false));
    }
    return nodes;
  }
}

/** Returns the items of new nodes. */
export function nodeItems(index: ListIndex, written: ReadonlyMap<string, TreeNode>) {
  return [...written].map(([id, node]) => ({ ...indexKeys.node(index, id), node: encodeNode(node, false) }));
}

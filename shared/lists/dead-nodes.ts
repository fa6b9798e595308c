import * as v from 'valibot';
import { inParallel } from '../runtime/in-parallel.ts';
import { indexKeys, type Key, keyOfItem } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { queryPrefix, type Item, type Table } from '../table/table.ts';
import { deleteItems, putItems } from '../table/writes.ts';
import type { ListIndex } from './log.ts';
import { idInPlaceOf, newNodeId } from './node.ts';
import { removeNode } from './stored-nodes.ts';

/** An item of them costs one write unit. */
const idsPerItem = 50;
/** More than a change replaces in all trees of its index. */
const nodesPerChange = 6;
const callsAtOnce = 25;

const storedIds = v.object({ ids: v.array(v.string()) });

/** Records nodes that no tree contains and no read needs any more. They stay until new ones take their places. May be repeated. */
export async function keepDeadNodes(table: Table, index: ListIndex, fold: string, ids: readonly string[]): Promise<void> {
  const items: (Item & Key)[] = [];
  for (let start = 0; start < ids.length; start += idsPerItem) {
    const key = indexKeys.deadNodes(index, fold, start);
    items.push({ ...key, ids: ids.slice(start, start + idsPerItem) });
  }
  await putItems(table, items);
}

/** Deletes the dead nodes of an index that is folded no more for now. */
export async function deleteDeadNodes(table: Table, index: ListIndex): Promise<void> {
  for (const item of await readItems(table, index)) {
    await removeNodes(table, index, parseStored(storedIds, item, 'dead nodes of a list').ids);
    await deleteItems(table, [keyOfItem(item)]);
  }
}

/** Deletes nodes, but none that has taken the place of one of them. May be repeated. */
export async function removeNodes(table: Table, index: ListIndex, ids: readonly string[]): Promise<void> {
  await inParallel(ids, (id) => removeNode(table, index, id), callsAtOnce);
}

async function readItems(table: Table, index: ListIndex, limit?: number): Promise<Item[]> {
  return await queryPrefix(table, indexKeys.partition(index), indexKeys.deadPrefix, { limit });
}

/** The dead nodes whose places the new nodes of a fold take. */
export class DeadNodes {
  private readonly items: { key: Key; ids: string[]; isTaken: boolean }[];
  /** The identifier of the node whose place a new node takes, by that of the new one. */
  readonly replaced = new Map<string, string>();

  constructor(items: readonly Item[]) {
    this.items = items.map((item) => {
      return { key: keyOfItem(item), ids: [...parseStored(storedIds, item, 'dead nodes of a list').ids], isTaken: false };
    });
  }

  /** Reads as many as a fold of so many changes may need. */
  static async read(table: Table, index: ListIndex, changes: number): Promise<DeadNodes> {
    return new DeadNodes(await readItems(table, index, 1 + Math.floor((changes * nodesPerChange) / idsPerItem)));
  }

  /** Returns the identifier of a new node. */
  readonly newId = (): string => {
    const item = this.items.find(({ ids }) => ids.length > 0);
    const dead = item?.ids.pop();
    if (!item || dead === undefined) return newNodeId();
    item.isTaken = true;
    const id = idInPlaceOf(dead);
    this.replaced.set(id, dead);
    return id;
  };

  /**
   * Forgets those whose places are taken, when the fold is committed. If it dies before, a later fold takes the same ones: that leaves the
   * new nodes as they are, since each write has a name of its own.
   */
  async forgetTaken(table: Table): Promise<void> {
    const taken = this.items.filter(({ isTaken }) => isTaken);
    await putItems(
      table,
      taken.filter(({ ids }) => ids.length > 0).map(({ key, ids }) => ({ ...key, ids })),
    );
    await deleteItems(
      table,
      taken.filter(({ ids }) => ids.length === 0).map(({ key }) => key),
    );
  }
}

import * as v from 'valibot';
import { type Head, newestInHead, parseHead, treeOf } from './head.ts';
import type { ListKeys } from './keys.ts';
import { differencesOf, type Entry, readLog, unfoldedOf } from './log.ts';
import { type Counts, decodeNode, type TreeNode } from './node.ts';
import type { View } from './select.ts';
import {
  batched,
  getItem,
  getItems,
  type Item,
  type ListTable,
  parseItem,
  queryPrefix,
  rememberedByTable,
  steadyTime,
  storedBytes,
} from './table.ts';
import type { Difference, NodeSource } from './tree.ts';

/**
 * The longest time that one read of a list may take, in milliseconds of the process's steady clock. Items that a fold replaced
 * are kept for longer.
 */
export const longestReadInMilliseconds = 2_000;
/** The number of restarts of a read after which a missing node counts as damage. */
const mostRestarts = 5;

export interface Moment {
  head: Head;
  unfolded: readonly Entry[];
  differences: readonly Difference[];
  /** The part of the tree that the head contains, with the changes of its members, and the numbers of its members by state. */
  newest: View & { counts: Counts };
  view: () => Promise<View & Pick<Root, 'days'>>;
}

/**
 * Calls `read` with a list as it is at one moment, which includes every change that was acknowledged before. Calls it again if
 * the read took too long, or an item was deleted meanwhile. Reading the head and the log takes one round trip.
 * @param list.withRoot whether to read the newest root, which is probably that of the head, together with the head
 */
export async function withMoment<T>(
  { table, keys, withRoot = false }: { table: ListTable; keys: ListKeys; withRoot?: boolean },
  read: (moment: Moment) => Promise<T>,
): Promise<T> {
  const deadline = table.deadline();
  const bounded = { ...table, deadline: () => deadline };
  const share = table.share ?? ((_what, readAlone) => readAlone());
  const readOnce = async () => {
    const startedAt = steadyTime(table);
    const moment = await share(`${keys.name} ${withRoot}`, () => readMoment(bounded, keys, withRoot));
    const result = await read(moment(bounded));
    if (steadyTime(table) - startedAt <= longestReadInMilliseconds) return result;
    throw new GoneError(`A read of ${keys.name} took longer than ${longestReadInMilliseconds} ms.`);
  };
  return await deadline.retry(readOnce, (error, count) => error instanceof GoneError && count <= mostRestarts);
}

async function readMoment(table: ListTable, keys: ListKeys, withRoot: boolean): Promise<(table: ListTable) => Moment> {
  const [headItem, entries, [ahead]] = await Promise.all([
    getItem(table, keys.head),
    readLog(table, keys),
    withRoot ? queryPrefix(table, keys.index, keys.prefixes.root, 1) : [],
  ]);
  const head = parseHead(headItem);
  const unfolded = unfoldedOf(head, entries);
  const differences = differencesOf(unfolded);
  const { from, ...near } = newestInHead(head);
  const newest = { ...near, differences: differences.filter(({ number }) => number >= from) };
  return (table) => {
    const source = storedNodes(table, keys, keptNodes(table));
    return {
      head,
      unfolded,
      differences,
      newest: { ...newest, source },
      view: async () => {
        const { edge, days } = await readRoot(table, keys, head, ahead);
        return { tree: treeOf(head, edge), source, differences, days };
      },
    };
  };
}

/** The error for an item of a list that has been deleted since the head was read, or may have been. The read must begin again. */
export class GoneError extends Error {
  override readonly name = 'GoneError';
}

const storedRoot = v.object({ edge: v.array(storedBytes), days: storedBytes });

export type Root = v.InferOutput<typeof storedRoot>;

export const emptyRoot: Root = { edge: [], days: new Uint8Array() };

/**
 * Returns the root that the head names: the upper nodes of the tree's right edge, and the counts of old days.
 * @param ahead the newest root, read before, which another fold may have written
 * @throws GoneError if the root has been deleted
 */
export async function readRoot(table: ListTable, keys: ListKeys, { root }: Head, ahead?: Item): Promise<Root> {
  if (root === '') return emptyRoot;
  const key = keys.node(root);
  const item = ahead?.['sk'] === key.sk ? ahead : await getItem(table, key);
  if (!item) throw new GoneError(`The root ${key.sk} of ${keys.name} is gone.`);
  return parseItem(storedRoot, item, 'root');
}

const storedNode = v.object({ node: storedBytes });

/**
 * The nodes that this process keeps in memory, for each table, by list and identifier. A stored node never changes, and no other
 * node gets its identifier.
 */
const keptNodes = rememberedByTable<TreeNode>();
const mostKept = 500;

/**
 * Returns a source of stored nodes of the tree that reads all nodes which are wanted at the same time in one call.
 * @param kept nodes that need not be read. Nodes that are read are added, and the oldest are removed
 */
export function storedNodes(table: ListTable, keys: ListKeys, kept = new Map<string, TreeNode>()): NodeSource {
  const readNode = batched((ids: string[]) => getItems(table, ids.map(keys.node)));
  return {
    read: async (id) => {
      const name = `${keys.name} ${id}`;
      const present = kept.get(name);
      if (present) return present;
      const item = await readNode(id);
      if (!item) throw new GoneError(`The node ${id} of ${keys.name} is gone.`);
      const node = decodeNode(parseItem(storedNode, item, 'node').node);
      const [oldest] = kept.set(name, node).keys();
      if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
      return node;
    },
  };
}

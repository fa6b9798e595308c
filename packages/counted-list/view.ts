import * as v from 'valibot';
import { type Head, newestInHead, parseHead, treeOf } from './head.ts';
import type { ListKeys } from './keys.ts';
import { differencesOf, readLog, type Unfolded, unfoldedOf } from './log.ts';
import { decodeNode, type TreeNode } from './node.ts';
import { foldedVersion } from './head.ts';
import type { Difference, View } from './select.ts';
import { getItem, getItems, type Item, type ListTable, parseItem, queryPrefix, steadyTime, storedBytes } from './table.ts';
import type { NodeSource } from './tree.ts';

/**
 * The longest time that a read may take, by its own steady clock. Entries and nodes that a fold replaced are kept for longer, so
 * that everything that a head refers to is still there.
 */
export const longestReadInMilliseconds = 2_000;
/** How often a read starts again before a missing node counts as damage. */
const mostRestarts = 5;

/** A list at one moment. */
export interface Moment {
  head: Head;
  unfolded: readonly Unfolded[];
  differences: readonly Difference[];
  /** The tree, with the changes that it does not contain yet. Reads its root if that was not read with the head. */
  view: () => Promise<View>;
  /** The newest members and the number at which they begin. They have been read with the head. */
  newest: () => { view: View; from: number };
  /** The item of old days that the head names. */
  oldDays: () => Promise<Uint8Array | undefined>;
}

/** What is read with the head besides the log. It is named in the head, so what is newest by name is probably it. */
export type Also = 'root' | 'days';

/**
 * Calls `read` with the list at one moment. It contains every change that was acknowledged before. Calls it again if the read has
 * taken too long. One round trip.
 */
export async function withMoment<T>(
  table: ListTable,
  keys: ListKeys,
  read: (moment: Moment) => Promise<T>,
  also?: Also,
): Promise<T> {
  const deadline = table.deadline();
  const bounded = { ...table, deadline: () => deadline };
  const share = table.share ?? ((_what, readAlone) => readAlone());
  for (let attempt = 1; ; attempt++) {
    const startedAt = steadyTime(table);
    let failure: unknown;
    try {
      const moment = await share(`${keys.name} ${also ?? ''}`, () => readMoment(bounded, keys, also));
      const result = await read(moment(bounded));
      if (steadyTime(table) - startedAt <= longestReadInMilliseconds) return result;
      failure = new Error(`A read of ${keys.name} took longer than ${longestReadInMilliseconds} ms.`);
    } catch (error) {
      if (!(error instanceof GoneError) || attempt > mostRestarts) throw error;
      failure = error;
    }
    await deadline.pause(attempt, failure);
  }
}

async function readMoment(table: ListTable, keys: ListKeys, also: Also | undefined): Promise<(table: ListTable) => Moment> {
  const newestBy = { limit: 1, newestFirst: true };
  const [headItem, entries, ahead = []] = await Promise.all([
    getItem(table, keys.head),
    readLog(table, keys),
    also && queryPrefix(table, keys.index, keys.prefixes[also], newestBy),
  ]);
  const head = parseHead(headItem);
  const unfolded = unfoldedOf(entries, (number) => foldedVersion(head, number));
  const differences = differencesOf(unfolded);
  return (table) => {
    const source = storedNodes(table, keys, keptNodesOf(table));
    return {
      head,
      unfolded,
      differences,
      view: async () => ({ tree: await readTree(table, keys, head, ahead[0]), source, differences }),
      newest: () => {
        const { tree, from } = newestInHead(head);
        return { view: { tree, source, differences: differences.filter(({ number }) => number >= from) }, from };
      },
      oldDays: () => readOldDays(table, keys, head, ahead[0]),
    };
  };
}

/** Thrown if an item has been deleted since the head was read, which takes longer than a read may last. */
export class GoneError extends Error {
  override readonly name = 'GoneError';
}

const storedNode = v.object({ node: storedBytes });
const storedRoot = v.object({ edge: v.array(storedBytes) });
const storedDays = v.object({ days: storedBytes });

/** Reads the tree of a head. @param ahead the newest root, which another fold may have written */
export async function readTree(table: ListTable, keys: ListKeys, head: Head, ahead?: Item): Promise<TreeNode> {
  if (head.root === undefined) return treeOf(head);
  const key = keys.root(head.root);
  const item = ahead?.['sk'] === key.sk ? ahead : await getItem(table, key);
  if (!item) throw new GoneError(`The root ${key.sk} of ${keys.name} is gone.`);
  return treeOf(head, parseItem(storedRoot, item, 'root').edge);
}

/** Reads the days that the head names. @param ahead the newest item of old days */
export async function readOldDays(table: ListTable, keys: ListKeys, head: Head, ahead?: Item): Promise<Uint8Array | undefined> {
  if (head.old_days === undefined) return undefined;
  const key = keys.days(head.old_days);
  const item = ahead?.['sk'] === key.sk ? ahead : await getItem(table, key);
  if (!item) throw new GoneError(`The days ${key.sk} of ${keys.name} are gone.`);
  return parseItem(storedDays, item, 'item of days').days;
}

/** The nodes that pages needed last in this process, by the client of the table. A node never changes, and no other has its name. */
const keptNodes = new WeakMap<object, Map<string, TreeNode>>();
const mostKept = 500;

function keptNodesOf({ document }: ListTable): Map<string, TreeNode> {
  const kept = keptNodes.get(document) ?? new Map<string, TreeNode>();
  keptNodes.set(document, kept);
  return kept;
}

/**
 * Reads the nodes of a list. Asks for all nodes that are wanted at the same time in one call, and for each of them once.
 * @param kept nodes that need not be read. Those that are read are added, and the oldest ones leave it.
 */
export function storedNodes(table: ListTable, keys: ListKeys, kept = new Map<string, TreeNode>()): NodeSource {
  const found = new Map<string, Promise<TreeNode>>();
  let wanted: string[] = [];
  let answers: Promise<(Item | undefined)[]> | undefined;
  const readWanted = async () => {
    await new Promise(setImmediate);
    const ids = wanted;
    wanted = [];
    answers = undefined;
    return await getItems(table, ids.map(keys.node));
  };
  const readOne = async (id: string) => {
    const at = wanted.push(id) - 1;
    answers ??= readWanted();
    const item = (await answers)[at];
    if (!item) throw new GoneError(`The node ${id} of ${keys.name} is gone.`);
    const node = decodeNode(parseItem(storedNode, item, 'node').node, false);
    const [oldest] = kept.set(nameOf(id), node).keys();
    if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
    return node;
  };
  const nameOf = (id: string) => `${table.name} ${keys.name} ${id}`;
  return {
    read: (id) => {
      const present = kept.get(nameOf(id));
      if (present) return Promise.resolve(present);
      const node = found.get(id) ?? readOne(id);
      found.set(id, node);
      return node;
    },
  };
}

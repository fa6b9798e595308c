import { randomBytes } from 'node:crypto';
import { clearFolds, type Plan, seeFolds } from './clear.ts';
import { addDays, daysOf, decodeDays, divideDays, encodeDays } from './days.ts';
import { type Fold, type Head, newestInHead, ofTree, readHead, replaceHead, treeOf, upperEdge } from './head.ts';
import { type Key, type ListKeys, rootOf } from './keys.ts';
import { countSteps, dayOf, differencesOf, type Entry, markList, readLog, readMark, unfoldedOf } from './log.ts';
import { encodeNode, type TreeNode } from './node.ts';
import { type Item, type ListTable, putItems } from './table.ts';
import { changeTree } from './tree.ts';
import { GoneError, readRoot, type Root, storedNodes } from './view.ts';

/**
 * The fewest changes among the newest members of a list that are worth a fold. Such changes share the nodes of the tree that the
 * fold writes.
 */
const leastAmongNewest = 32;
/**
 * The number of changes of old members that are worth a fold: one for each 19,000 members, within the limits. Such changes are
 * far apart in the tree: each writes a leaf of its own, and they share only inner nodes, of about 38,000 members.
 */
const farApart = { least: 160, most: 800, membersPerChange: 19_000 };
/**
 * The least share of the log, counted in changes, that a fold must move to be worth its cost: the more folded entries are still
 * in the log, the more a fold costs.
 */
const leastShareOfLog = 1 / 8;
/**
 * The most changes that one fold moves into the tree. The fold's plan, one item, names each node that the fold writes or
 * replaces.
 */
const mostChanges = 2_000;
/**
 * The most members that the head of a list names as folded. Each takes up to 13 bytes, and together they may take half of an
 * item.
 */
const mostNamed = 15_000;

export interface FoldedStep {
  unfolded: number;
  folded: number;
  pending: number;
  unexpected: readonly number[];
  /** The number of further changes from which on a fold is worth its cost. Not above 0 if one was when the step began. */
  missing: number;
}

/**
 * Moves changes from the log of a list into new nodes of its tree, once, and deletes what earlier folds replaced. Several
 * processes may call it at once, and it may die at any call: only the conditional write of the head commits it.
 * @param least the fewest changes to fold. Default: as many as make a fold worth its cost
 */
export async function foldStep(table: ListTable, keys: ListKeys, least?: number): Promise<FoldedStep> {
  // In this order: what another process deletes meanwhile is in folds that the head names, or the commit fails.
  const head = await readHead(table, keys);
  const [entries, mark] = await Promise.all([readLog(table, keys), readMark(table, keys)]);
  const unfolded = unfoldedOf(head, entries);
  const steps = countSteps(unfolded);
  const missing = Math.max(1, least ?? leastToFold(head, entries, unfolded)) - steps;
  const nothing = { unfolded: steps, folded: 0, unexpected: [], missing };
  if (head.held_until > table.clock.now()) return { ...nothing, pending: head.folds.length };
  const isWorthIt = missing <= 0;
  if (steps + head.folds.length > 0) await markList(table, keys, mark, isWorthIt);
  const cleared = await clearFolds(table, keys, head, entries);
  const folds = head.folds.filter((fold) => !cleared.includes(fold));
  const part = isWorthIt ? partToFold(unfolded, folds) : [];
  if (part.length === 0) {
    if (cleared.length > 0) await replaceHead(table, keys, head, { folds });
    return { ...nothing, pending: folds.length };
  }
  const unexpected = await foldPart(table, keys, { head, folds, part });
  const done = unexpected && { folded: countSteps(part), unexpected };
  return { ...nothing, ...done, pending: folds.length + 1 };
}

function leastToFold(head: Head, entries: readonly Entry[], unfolded: readonly Entry[]): number {
  const { from } = newestInHead(head);
  const old = unfolded.filter(({ number }) => number < from).length;
  const members = head.totals.reduce((sum, count) => sum + count, 0);
  const { most, membersPerChange } = farApart;
  const apart = Math.min(most, Math.max(farApart.least, members / membersPerChange));
  const least = old > unfolded.length / 2 ? apart : leastAmongNewest;
  return Math.min(mostChanges, Math.max(least, countSteps(entries) * leastShareOfLog));
}

/**
 * Returns the part of the log that one fold can move into the tree: the first entries, within the limits. The other entries can
 * wait, since the head says for each member up to which version it is folded.
 */
function partToFold(unfolded: readonly Entry[], folds: readonly Fold[]): readonly Entry[] {
  const named = folds.reduce((sum, { entries }) => sum + entries.size, 0);
  return unfolded.slice(0, Math.max(0, Math.min(mostChanges, mostNamed - named)));
}

interface Part {
  head: Head;
  folds: readonly Fold[];
  part: readonly Entry[];
}

/**
 * Moves a part of the log into the tree, and commits that by replacing the head.
 * @returns the numbers of the members that were in another state than their changes say, or undefined if the fold was not
 *   committed
 */
async function foldPart(table: ListTable, keys: ListKeys, { head, folds, part }: Part): Promise<number[] | undefined> {
  const name = foldName(head.version + 1);
  try {
    const { changes, unexpected } = await writeFold(table, keys, name, { head, folds, part });
    // The SDK repeats a write whose answer is lost, and the repeat finds the head replaced.
    const next = (await replaceHead(table, keys, head, changes)) ?? (await readHead(table, keys));
    if (!next.folds.some((fold) => fold.name === name)) return undefined;
    // The commit has been answered: from now on no read begins with an older head.
    seeFolds(table, keys, changes.folds);
    return unexpected;
  } catch (error) {
    // Another fold was committed meanwhile, long enough ago that what it replaced is deleted.
    if (error instanceof GoneError && (await readHead(table, keys)).version !== head.version) return undefined;
    throw error;
  }
}

/**
 * Returns a new name for a fold that will replace the head by one with this version. Names sort by the version, and end with
 * random characters.
 */
export const foldName = (version: number): string =>
  `${String(version).padStart(15, '0')}-${randomBytes(6).toString('base64url')}`;

/**
 * Writes the plan and the new nodes of a fold.
 * @returns the changes of the head, and the numbers of members that were in another state than their changes say. Nothing refers
 *   to the new nodes until the head is replaced
 */
async function writeFold(table: ListTable, keys: ListKeys, name: string, { head, folds, part }: Part) {
  const before = await readRoot(table, keys, head);
  const source = storedNodes(table, keys);
  const { tree, written, dropped, unexpected } = await changeTree(treeOf(head, before.edge), differencesOf(part), source);
  const { recent, old } = divideDays(addDays(head.days, daysOf(part)), dayOf(table.clock.now()));
  const after = {
    edge: upperEdge(tree),
    days: old.size === 0 ? before.days : encodeDays(addDays(decodeDays(before.days), old)),
  };
  // New members mostly change no more than the head.
  const isKept = textOf(after) === textOf(before);
  const root = isKept ? head.root : rootOf(name);
  const plan: Plan & Key = {
    ...keys.plan(name),
    version: head.version + 1,
    written: [...written.keys(), ...(isKept ? [] : [root])],
    dropped: [...dropped, ...(isKept || head.root === '' ? [] : [head.root])],
  };
  if (plan.written.length + plan.dropped.length > 0) {
    await putItems(table, [{ ...plan }]);
    await putItems(table, [...nodeItems(keys, written), ...(isKept ? [] : [{ ...keys.node(root), ...after }])]);
  }
  const entries = new Map(part.map(({ number, steps }) => [number, steps.at(-1)?.version ?? 0]));
  return { changes: { ...ofTree(tree), root, days: recent, folds: [...folds, { name, entries }] }, unexpected };
}

const textOf = ({ edge, days }: Root): string => [...edge, days].map((bytes) => Buffer.from(bytes).toString('base64')).join();

export const nodeItems = (keys: ListKeys, written: Iterable<[string, TreeNode]>): (Item & Key)[] =>
  [...written].map(([id, node]) => ({ ...keys.node(id), node: encodeNode(node) }));

import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { addDays, addSteps, decodeDays, divideDays, encodeDays } from './days.ts';
import { bytesToName, commitHead, divideEdge, type Fold, foldedVersion, type Head, newestInHead, readHead } from './head.ts';
import type { Key, ListKeys } from './keys.ts';
import { countSteps, differencesOf, type Entry, readLog, type Unfolded, unfoldedOf } from './log.ts';
import { markList, readMark } from './marks.ts';
import { countsOf, encodeNode, type TreeNode } from './node.ts';
import {
  deleteItemIf,
  deleteItems,
  getItem,
  inParallel,
  type Item,
  type ListTable,
  parseItem,
  putItems,
  queryPrefix,
  removeAttributes,
  steadyTime,
} from './table.ts';
import { changeTree } from './tree.ts';
import { GoneError, longestReadInMilliseconds, readOldDays, readTree, storedNodes } from './view.ts';

/**
 * How long what a fold replaced outlives it, and its name what was deleted. One process measures it by its steady clock from what it
 * has seen itself, so no two clocks are compared. Longer than any read takes.
 */
export const graceInMilliseconds = longestReadInMilliseconds + 500;

/** For changes that are mostly among the newest members, which share the nodes that a fold writes. */
const leastAmongNewest = 32;
/**
 * Changes of members that are far apart write a leaf each, and share only the inner nodes above. An inner node has about 38,000
 * members. Every 100 changes in the log cost each read two more read units, so smaller lists wait for fewer changes.
 */
const farApart = { least: 160, most: 800, membersPerChange: 19_000 };
/** Folded entries stay in the log for a while, and the head names them: the more there are, the more a fold costs. */
const leastShareOfLog = 1 / 8;
/** The plan names each node that the fold writes or replaces, in one item of at most 400 KB. */
const mostChanges = 2_000;
/** Half of what the head, one item, may have. */
const mostNamedBytes = 200_000;
const callsAtOnce = 25;

export interface FoldedStep {
  /** The changes that the tree did not contain. */
  unfolded: number;
  /** How many of them it contains now. */
  folded: number;
  /** The folds whose entries and old nodes are still there. */
  pending: number;
}

export interface FoldOptions {
  /** The fewest changes to fold. Default: as many as make a fold worth its cost. */
  least?: number | undefined;
  /** Called with the numbers of members that were not in the state that they changed from. */
  onDrift?: ((numbers: readonly number[]) => void) | undefined;
}

/**
 * Moves changes from the log into the tree, in new nodes, and deletes what earlier folds replaced. It may be called at any time, also
 * by several callers at once, and may die at any call: only the conditional write of the head commits it.
 */
export async function foldStep(table: ListTable, keys: ListKeys, { least, onDrift }: FoldOptions): Promise<FoldedStep> {
  // In this order: what another process deletes meanwhile is in folds that the head names, or the commit fails.
  const head = await readHead(table, keys);
  const [entries, mark] = await Promise.all([readLog(table, keys), readMark(table, keys)]);
  const unfolded = unfoldedOf(entries, (number) => foldedVersion(head, number));
  const steps = countSteps(unfolded);
  const nothing = { unfolded: steps, folded: 0, pending: head.folds.length };
  if (head.held && head.held.until > table.clock.now()) return nothing;
  const isWorthIt = steps > 0 && steps >= (least ?? leastToFold(head, entries, unfolded));
  const { toClear, toForget } = dueFolds(table, keys, head);
  if (steps + head.folds.length > 0) await markList(table, keys, mark, isWorthIt);
  await clearFolds(table, keys, { head, entries, folds: toClear });
  const next: Head = {
    ...head,
    version: head.version + 1,
    folds: head.folds.filter((fold) => !toForget.includes(fold)),
  };
  const part = isWorthIt ? partToFold(unfolded, next.folds) : [];
  if (part.length === 0) {
    if (toForget.length > 0) await commitHead(table, keys, next);
    return { ...nothing, pending: next.folds.length };
  }
  const isFolded = await foldPart(table, keys, { head, next, part, onDrift });
  return { unfolded: steps, folded: isFolded ? countSteps(part) : 0, pending: next.folds.length + 1 };
}

/** Returns how many changes make a fold worth its cost. */
function leastToFold(head: Head, entries: readonly Entry[], unfolded: readonly Unfolded[]): number {
  const { from } = newestInHead(head);
  const old = unfolded.filter(({ number }) => number < from).length;
  const members = head.totals.reduce((sum, count) => sum + count, 0);
  const { most, membersPerChange } = farApart;
  const apart = Math.min(most, Math.max(farApart.least, members / membersPerChange));
  const least = old > unfolded.length / 2 ? apart : leastAmongNewest;
  return Math.min(mostChanges, Math.max(least, countSteps(entries) * leastShareOfLog));
}

/** Returns the changes that the next fold takes. The others can wait, since each member counts by its own version. */
function partToFold(unfolded: readonly Unfolded[], folds: readonly Fold[]): Unfolded[] {
  const part: Unfolded[] = [];
  let bytes = 0;
  for (const { entries } of folds) for (const [number, version] of entries) bytes += bytesToName(number, version);
  for (const member of unfolded) {
    bytes += bytesToName(member.number, member.steps.at(-1)?.version ?? 0);
    if (part.length >= mostChanges || bytes > mostNamedBytes) break;
    part.push(member);
  }
  return part;
}

/** When this process has first seen a fold in the head, and its entries gone, by its steady clock. */
interface Times {
  seen: number;
  gone?: number;
}

const observed = new WeakMap<object, Map<string, Map<string, Times>>>();

/** Returns the times of the folds that a head names. Forgets those of others. */
function timesOf(table: ListTable, { name }: ListKeys, folds: readonly Fold[]): Map<string, Times> {
  const lists = observed.get(table.document) ?? new Map<string, Map<string, Times>>();
  observed.set(table.document, lists);
  const before = lists.get(name);
  const seen = steadyTime(table);
  const times = new Map(folds.map((fold) => [fold.name, before?.get(fold.name) ?? { seen }]));
  if (folds.length > 0) lists.set(name, times);
  else lists.delete(name);
  return times;
}

/** Returns the folds whose entries and old nodes no read needs any more, and those whose names none needs. */
function dueFolds(table: ListTable, keys: ListKeys, { folds }: Head): { toClear: Fold[]; toForget: Fold[] } {
  const times = timesOf(table, keys, folds);
  const isOver = (since: number | undefined) => since !== undefined && steadyTime(table) - since >= graceInMilliseconds;
  const goneOf = ({ name }: Fold) => times.get(name)?.gone;
  return {
    toClear: folds.filter((fold) => goneOf(fold) === undefined && isOver(times.get(fold.name)?.seen)),
    toForget: folds.filter((fold) => isOver(goneOf(fold))),
  };
}

/** Returns the milliseconds until a fold of the list is due that this process has seen. */
export function untilDue(table: ListTable, { name }: ListKeys): number {
  const times = [...(observed.get(table.document)?.get(name)?.values() ?? [])];
  const since = Math.min(...times.map(({ seen, gone = seen }) => gone));
  return Math.max(0, Math.min(graceInMilliseconds, since + graceInMilliseconds - steadyTime(table)));
}

/** What a fold writes and replaces, recorded before it begins, so that nothing is left behind if it dies. */
const storedPlan = v.object({
  sk: v.string(),
  /** The version of the head that commits it. */
  version: v.number(),
  /** Identifiers of nodes, and ends of sort keys of roots and days. */
  written: v.array(v.string()),
  dropped: v.array(v.string()),
});
type Plan = v.InferOutput<typeof storedPlan>;

/** Deletes the entries of folds, and the nodes, roots and days that they replaced, and what folds left that died. */
async function clearFolds(
  table: ListTable,
  keys: ListKeys,
  { head, entries, folds }: { head: Head; entries: readonly Entry[]; folds: readonly Fold[] },
): Promise<void> {
  if (folds.length === 0) return;
  const plans = await readPlans(table, keys);
  await inParallel(entries, callsAtOnce, async (entry) => {
    const version = foldedVersion({ ...head, folds: [...folds] }, entry.number);
    if (version > 0) await clearEntry(table, entry, version);
  });
  for (const plan of plans) {
    if (folds.some(({ name }) => keys.plan(name).sk === plan.sk)) await dropPlan(table, keys, plan, plan.dropped);
  }
  await removeFailed(table, keys, head, plans);
  const times = timesOf(table, keys, head.folds);
  for (const { name } of folds) Object.assign(times.get(name) ?? {}, { gone: steadyTime(table) });
}

async function readPlans(table: ListTable, keys: ListKeys): Promise<Plan[]> {
  const items = await queryPrefix(table, keys.index, keys.prefixes.plan);
  return items.map((item) => parseItem(storedPlan, item, 'plan'));
}

/** Deletes the steps of an entry up to a version. Later steps stay, also one that is being written. */
async function clearEntry(table: ListTable, { key, steps }: Entry, version: number): Promise<void> {
  const folded = steps.filter((step) => step.version <= version);
  if (folded.length === 0) return;
  const unchanged = { ConditionExpression: 'version = :version', ExpressionAttributeValues: { ':version': version } };
  if (folded.length === steps.length && (await deleteItemIf(table, key, unchanged))) return;
  const attributes = folded.map((step) => `s${step.version}`);
  await removeAttributes(table, key, attributes);
}

/** Deletes what folds wrote that died or lost against another one: their plans are stored, but the head does not name them. */
async function removeFailed(table: ListTable, keys: ListKeys, { folds, version }: Head, plans: readonly Plan[]): Promise<void> {
  const named = new Set(folds.map(({ name }) => keys.plan(name).sk));
  for (const plan of plans) {
    // A fold with a later version may be at work.
    if (!named.has(plan.sk) && plan.version <= version) await dropPlan(table, keys, plan, plan.written);
  }
}

async function dropPlan(table: ListTable, keys: ListKeys, { sk }: Plan, items: readonly string[]): Promise<void> {
  await deleteItems(
    table,
    items.map((id) => placeOf(keys, id)),
  );
  await deleteItems(table, [{ pk: keys.index, sk }]);
}

function placeOf(keys: ListKeys, id: string): Key {
  return id.includes('#') ? { pk: keys.index, sk: keys.prefix + id } : keys.node(id);
}

/**
 * Deletes what died folds of a list have left that has nothing to fold. The next version of the head keeps a fold that still works
 * from being committed.
 */
export async function removeLeftovers(table: ListTable, keys: ListKeys): Promise<void> {
  const head = await readHead(table, keys);
  const plans = await readPlans(table, keys);
  if (plans.length === 0) return;
  const fence = { ...head, version: head.version + 1 };
  if (await commitHead(table, keys, fence)) await removeFailed(table, keys, fence, plans);
}

interface Part {
  head: Head;
  /** The head of the next version, still with the tree of the one before. */
  next: Head;
  part: readonly Unfolded[];
  onDrift: FoldOptions['onDrift'];
}

/** @returns whether the fold was committed, as far as its caller knows */
async function foldPart(table: ListTable, keys: ListKeys, { head, next, part, onDrift }: Part): Promise<boolean> {
  const written = await writeFold(table, keys, { head, next, part }).catch(async (error: unknown) => {
    // Another fold was committed meanwhile, long enough ago that what it replaced is deleted.
    const isLost = error instanceof GoneError && (await readHead(table, keys)).version !== head.version;
    if (!isLost) throw error;
  });
  if (!written) return false;
  const { name, committing, unexpected } = written;
  if (!(await commitHead(table, keys, committing)) && !(await isCommitted(table, keys, name))) return false;
  // The commit has been answered: from now on no read begins with an older head.
  timesOf(table, keys, committing.folds);
  if (unexpected.length > 0) onDrift?.(unexpected);
  return true;
}

/**
 * Returns whether a fold was committed whose write was refused: the SDK repeats a write whose answer is lost, and the repeat finds the
 * head replaced. Otherwise deletes what the fold wrote. The plan of a committed fold is deleted before the head forgets it.
 */
async function isCommitted(table: ListTable, keys: ListKeys, name: string): Promise<boolean> {
  const { folds } = await readHead(table, keys);
  if (folds.some((fold) => fold.name === name)) return true;
  const item = await getItem(table, keys.plan(name));
  if (item) {
    const plan = parseItem(storedPlan, item, 'plan');
    await dropPlan(table, keys, plan, plan.written);
  }
  return false;
}

/** Names sort by the version of the head that they commit. */
export function foldName(version: number): string {
  return `${String(version).padStart(15, '0')}-${randomBytes(6).toString('base64url')}`;
}

/** Writes the new nodes. Nothing refers to them until the head is committed. */
async function writeFold(
  table: ListTable,
  keys: ListKeys,
  { head, next, part }: Pick<Part, 'head' | 'next' | 'part'>,
): Promise<{ name: string; committing: Head; unexpected: number[] }> {
  const name = foldName(next.version);
  const changes = differencesOf(part).map(({ number, before, now }) => ({ number, before, state: now }));
  const before = await readTree(table, keys, head);
  const { tree, written, dropped, unexpected } = await changeTree(before, changes, storedNodes(table, keys));
  const edge = replaceEdge(keys, { head, tree, before, name });
  const days = await replaceDays(table, keys, { head, part, name });
  const plan = {
    version: next.version,
    written: [...written.keys(), ...edge.written, ...days.written],
    dropped: [...dropped, ...edge.dropped, ...days.dropped],
  };
  if (plan.written.length + plan.dropped.length > 0) {
    await putItems(table, [{ ...keys.plan(name), ...plan }]);
    await putItems(table, [...nodeItems(keys, written), ...edge.items, ...days.items]);
  }
  const entries = new Map(part.map(({ number, steps }) => [number, steps.at(-1)?.version ?? 0]));
  const committing = { ...withTree(next, tree, edge.root), ...days.ofHead, folds: [...next.folds, { name, entries }] };
  return { name, committing, unexpected };
}

/** Returns a head with another tree. */
export function withTree(head: Head, tree: TreeNode, root: string | undefined): Head {
  const { leaf: _leaf, branch: _branch, root: _root, ...rest } = head;
  const { upper: _upper, ...edge } = divideEdge(tree);
  return { ...rest, ...edge, totals: [...countsOf(tree)], ...(root !== undefined && { root }) };
}

export function nodeItems(keys: ListKeys, written: Iterable<[string, TreeNode]>): (Item & Key)[] {
  return [...written].map(([id, node]) => ({ ...keys.node(id), node: encodeNode(node, false) }));
}

interface Replaced {
  items: (Item & Key)[];
  written: string[];
  dropped: string[];
}

/** The item of the root is mostly stored already: new members change no more than the head. */
function replaceEdge(
  keys: ListKeys,
  { head, tree, before, name }: { head: Head; tree: TreeNode; before: TreeNode; name: string },
): Replaced & { root: string | undefined } {
  const { upper } = divideEdge(tree);
  if (Buffer.concat(upper).equals(Buffer.concat(divideEdge(before).upper))) {
    return { items: [], written: [], dropped: [], root: head.root };
  }
  const dropped = head.root === undefined ? [] : [endOf(keys, keys.root(head.root))];
  if (upper.length === 0) return { items: [], written: [], dropped, root: undefined };
  const key = keys.root(name);
  return { items: [{ ...key, edge: upper }], written: [endOf(keys, key)], dropped, root: name };
}

function endOf({ prefix }: ListKeys, { sk }: Key): string {
  return sk.slice(prefix.length);
}

/** Moves days that have become old from the head to an item of their own. */
async function replaceDays(
  table: ListTable,
  keys: ListKeys,
  { head, part, name }: { head: Head; part: readonly Unfolded[]; name: string },
): Promise<Replaced & { ofHead: Partial<Head> }> {
  const { recent, old } = divideDays(addSteps(head.days, part), table.clock.now());
  if (old.size === 0) return { items: [], written: [], dropped: [], ofHead: { days: recent } };
  const stored = decodeDays(await readOldDays(table, keys, head));
  const key = keys.days(name);
  return {
    items: [{ ...key, days: encodeDays(addDays(stored, old)) }],
    written: [endOf(keys, key)],
    dropped: head.old_days === undefined ? [] : [endOf(keys, keys.days(head.old_days))],
    ofHead: { days: recent, old_days: name },
  };
}

import * as v from 'valibot';
import { type Fold, foldedVersion, type Head, readHead, replaceHead } from './head.ts';
import type { ListKeys } from './keys.ts';
import type { Entry } from './log.ts';
import {
  deleteItemIf,
  deleteItems,
  has,
  inParallel,
  type ListTable,
  parseItem,
  queryPrefix,
  rememberedByTable,
  removeAttributes,
  steadyTime,
} from './table.ts';
import { longestReadInMilliseconds } from './view.ts';

/**
 * The milliseconds for which items that a fold (a move of changes into the tree) replaced or moved are kept, so that reads that
 * began before still find them. Each process measures them by its own steady clock.
 */
export const graceInMilliseconds = longestReadInMilliseconds + 500;
const callsAtOnce = 25;

/**
 * A fold (a move of changes into the tree) that this process has seen named in the head of the list. `since` is a time of the
 * process's steady clock.
 */
interface Seen {
  since: number;
  isCleared: boolean;
}

const seenFolds = rememberedByTable<Map<string, Seen>>();

export function seeFolds(table: ListTable, { name }: ListKeys, folds: readonly Fold[]): Map<string, Seen> {
  const ofLists = seenFolds(table);
  const before = ofLists.get(name);
  const since = steadyTime(table);
  const seen = new Map(folds.map((fold) => [fold.name, before?.get(fold.name) ?? { since, isCleared: false }]));
  if (folds.length > 0) ofLists.set(name, seen);
  else ofLists.delete(name);
  return seen;
}

/**
 * Returns the milliseconds until the items that the oldest fold replaced may be deleted, as far as this process has seen folds of
 * the list. 0 if they may be deleted now; the whole `graceInMilliseconds` if it has seen no fold.
 */
export function untilDue(table: ListTable, { name }: ListKeys): number {
  const seen = [...(seenFolds(table).get(name)?.values() ?? [])];
  const first = Math.min(...seen.map(({ since }) => since), steadyTime(table));
  return Math.max(0, first + graceInMilliseconds - steadyTime(table));
}

/**
 * Deletes what folds of a list have replaced or moved into the tree, once it is old enough.
 * @returns the folds that the head of the list need not name any more
 */
export async function clearFolds(table: ListTable, keys: ListKeys, head: Head, entries: readonly Entry[]): Promise<Fold[]> {
  const seen = seeFolds(table, keys, head.folds);
  const due = head.folds.filter(({ name }) => steadyTime(table) - (seen.get(name)?.since ?? 0) >= graceInMilliseconds);
  const isCleared = ({ name }: Fold) => seen.get(name)?.isCleared ?? false;
  const cleared = due.filter(isCleared);
  const folds = due.filter((fold) => !isCleared(fold));
  if (folds.length === 0) return cleared;
  const plans = await readPlans(table, keys);
  await inParallel(entries, callsAtOnce, (entry) => clearEntry(table, keys, entry, foldedVersion({ folds }, entry.number)));
  for (const { name } of folds) {
    const plan = plans.find(({ sk }) => sk === keys.plan(name).sk);
    if (plan) await dropPlan(table, keys, plan, plan.dropped);
  }
  await removeFailed(table, keys, head, plans);
  for (const { name } of folds) seen.set(name, { since: steadyTime(table), isCleared: true });
  return cleared;
}

/** Deletes the steps (changes) of one member from the log up to a version. Later steps stay, also one that is being written. */
async function clearEntry(table: ListTable, keys: ListKeys, { number, steps }: Entry, version: number): Promise<void> {
  const key = keys.entry(number);
  const folded = steps.filter((step) => step.version <= version);
  if (folded.length === 0) return;
  if (folded.length === steps.length && (await deleteItemIf(table, key, has('version', version)))) return;
  const attributes = folded.map((step) => `s${step.version}`);
  await removeAttributes(table, key, attributes);
}

/**
 * The stored form of a fold's plan: an item that lists the nodes of the tree that the fold writes and replaces. It is written
 * before the fold begins, so that the nodes can be found if the fold dies.
 */
const storedPlan = v.object({
  sk: v.string(),
  version: v.number(),
  /** The identifiers of the tree's nodes and roots that the fold writes. `dropped` has those that it replaces. */
  written: v.array(v.string()),
  dropped: v.array(v.string()),
});
export type Plan = v.InferOutput<typeof storedPlan>;

async function readPlans(table: ListTable, keys: ListKeys): Promise<Plan[]> {
  const items = await queryPrefix(table, keys.index, keys.prefixes.plan);
  return items.map((item) => parseItem(storedPlan, item, 'plan'));
}

async function dropPlan(table: ListTable, keys: ListKeys, { sk }: Plan, nodes: readonly string[]): Promise<void> {
  await deleteItems(table, nodes.map(keys.node));
  await deleteItems(table, [{ pk: keys.index, sk }]);
}

/** Deletes the nodes that folds wrote without committing them: folds whose plans are stored, but which the head does not name. */
async function removeFailed(table: ListTable, keys: ListKeys, { folds, version }: Head, plans: readonly Plan[]): Promise<void> {
  const named = new Set(folds.map(({ name }) => keys.plan(name).sk));
  for (const plan of plans) {
    // A fold with a later version may be at work.
    if (!named.has(plan.sk) && plan.version <= version) await dropPlan(table, keys, plan, plan.written);
  }
}

/**
 * Deletes what folds that died have left of a list that has nothing to fold. Replaces the head, so that a fold that is still at
 * work cannot commit.
 * @returns false while the list is rebuilt, or if the head was replaced by another process meanwhile
 */
export async function removeLeftovers(table: ListTable, keys: ListKeys): Promise<boolean> {
  const head = await readHead(table, keys);
  if (head.held_until > table.clock.now()) return false;
  const plans = await readPlans(table, keys);
  const fence = plans.length === 0 ? head : await replaceHead(table, keys, head, {});
  if (fence) await removeFailed(table, keys, fence, plans);
  return fence !== undefined;
}

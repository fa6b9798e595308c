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
 * The milliseconds for which what a fold replaced outlives it, and the name of the fold what was deleted. Each process measures
 * them by its own steady clock.
 */
export const graceInMilliseconds = longestReadInMilliseconds + 500;
const callsAtOnce = 25;

/** A fold that this process has seen in the head. `since` is a time of its steady clock. */
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

/** Returns the milliseconds until a fold of the list that this process has seen is due. */
export function untilDue(table: ListTable, { name }: ListKeys): number {
  const seen = [...(seenFolds(table).get(name)?.values() ?? [])];
  const first = Math.min(...seen.map(({ since }) => since), steadyTime(table));
  return Math.max(0, first + graceInMilliseconds - steadyTime(table));
}

/** @returns the folds that the head need not name any more */
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

/** Deletes the steps of an entry up to a version. Later steps stay, also one that is being written. */
async function clearEntry(table: ListTable, keys: ListKeys, { number, steps }: Entry, version: number): Promise<void> {
  const key = keys.entry(number);
  const folded = steps.filter((step) => step.version <= version);
  if (folded.length === 0) return;
  if (folded.length === steps.length && (await deleteItemIf(table, key, has('version', version)))) return;
  await removeAttributes(
    table,
    key,
    folded.map((step) => `s${step.version}`),
  );
}

/** The item that says what a fold writes and replaces. It is written before the fold begins. */
const storedPlan = v.object({
  sk: v.string(),
  version: v.number(),
  /** Identifiers of nodes and roots. */
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

/** Deletes what folds wrote whose plans are stored, but which the head does not name. */
async function removeFailed(table: ListTable, keys: ListKeys, { folds, version }: Head, plans: readonly Plan[]): Promise<void> {
  const named = new Set(folds.map(({ name }) => keys.plan(name).sk));
  for (const plan of plans) {
    // A fold with a later version may be at work.
    if (!named.has(plan.sk) && plan.version <= version) await dropPlan(table, keys, plan, plan.written);
  }
}

/**
 * Deletes what died folds have left of a list that has nothing to fold. Replaces the head, so that no fold that still works is
 * committed.
 * @returns false while the list is rebuilt, and if its head has been replaced meanwhile
 */
export async function removeLeftovers(table: ListTable, keys: ListKeys): Promise<boolean> {
  const head = await readHead(table, keys);
  if (head.held_until > table.clock.now()) return false;
  const plans = await readPlans(table, keys);
  const fence = plans.length === 0 ? head : await replaceHead(table, keys, head, {});
  if (fence) await removeFailed(table, keys, fence, plans);
  return fence !== undefined;
}

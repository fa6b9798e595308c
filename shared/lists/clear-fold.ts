import * as v from 'valibot';
import { inParallel } from '../runtime/in-parallel.ts';
import { indexKeys, type Key, writableKey } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { queryPrefix, type Table } from '../table/table.ts';
import { deleteItemIf, deleteItems, putItem, removeAttributes } from '../table/writes.ts';
import { keepDeadNodes, removeNodes } from './dead-nodes.ts';
import type { Fold, Head } from './head.ts';
import { attributesUpTo, type ListIndex, type LogEntry, type LoggedStep } from './log.ts';

/** What a fold writes and replaces, recorded before it begins, so that nothing is left behind if it dies. */
export interface FoldPlan {
  /** The head's version after the fold. */
  version: number;
  /** The identifiers of nodes. */
  written: string[];
  /** Those that take the place of a dead one. */
  replacing: string[];
  dropped: string[];
  /** The sort keys of roots. */
  roots_written: string[];
  roots_dropped: string[];
}

const storedPlan = v.object({
  sk: v.string(),
  version: v.number(),
  written: v.array(v.string()),
  replacing: v.array(v.string()),
  dropped: v.array(v.string()),
  roots_written: v.array(v.string()),
  roots_dropped: v.array(v.string()),
});

export async function recordPlan(table: Table, index: ListIndex, name: string, plan: FoldPlan): Promise<void> {
  await putItem(table, { ...indexKeys.fold(index, name), ...plan });
}

/** Returns the plans that are stored, by the name of the fold. */
export async function readPlans(table: Table, index: ListIndex): Promise<Map<string, FoldPlan>> {
  const items = await queryPrefix(table, indexKeys.partition(index), indexKeys.foldPrefix);
  const plans = items.map((item) => parseStored(storedPlan, item, 'plan of a fold'));
  return new Map(plans.map((plan) => [plan.sk.slice(indexKeys.foldPrefix.length), plan]));
}

const callsAtOnce = 25;

/**
 * Deletes the log entries that a fold moved into the trees, and the roots that it replaced. Of the nodes that it replaced, as many stay
 * as it wrote: a later fold writes its own in their places. May be repeated.
 */
export async function clearFold(
  table: Table,
  index: ListIndex,
  fold: Fold,
  { entries, plan }: { entries: readonly LogEntry<LoggedStep>[]; plan: FoldPlan | undefined },
): Promise<void> {
  const inLog = new Map(entries.map((entry) => [entry.name, entry]));
  const clear = async ([name, version]: [string, number]) => {
    const entry = inLog.get(name);
    if (entry) await clearEntry(table, entry, version);
  };
  await inParallel([...fold.entries], clear, callsAtOnce);
  if (!plan) return;
  const kept = plan.written.length + plan.replacing.length;
  await keepDeadNodes(table, index, fold.name, plan.dropped.slice(0, kept));
  // After a death, the same place may have been taken twice: then its item also has a node that is in use.
  await removeNodes(table, index, plan.dropped.slice(kept));
  await deleteItems(table, rootKeys(index, plan.roots_dropped));
}

/** Deletes the steps of an entry up to a version. Later steps stay, also one that is being written. */
async function clearEntry(table: Table, entry: LogEntry<LoggedStep>, version: number): Promise<void> {
  const attributes = attributesUpTo(entry, version);
  if (attributes.length === 0) return;
  const key = writableKey(entry.log, entry.name);
  const isWhole = attributes.length === entry.steps.length;
  const unchanged = { ConditionExpression: 'version = :version', ExpressionAttributeValues: { ':version': version } };
  if (isWhole && (await deleteItemIf(table, key, unchanged))) return;
  await removeAttributes(table, key, attributes);
}

/** Deletes what folds left that died or lost against another one: their plans are stored, but no head contains them. */
export async function removeFailedFolds(
  table: Table,
  index: ListIndex,
  head: Head,
  plans: ReadonlyMap<string, FoldPlan>,
): Promise<void> {
  const folds = new Set(head.folds.map(({ name }) => name));
  for (const [name, plan] of plans) {
    // A fold with a later version may be at work.
    if (folds.has(name) || plan.version > head.version) continue;
    await removeFailedFold(table, index, name, plan);
  }
}

export async function removeFailedFold(table: Table, index: ListIndex, name: string, plan: FoldPlan): Promise<void> {
  const written = plan.written.map((id) => indexKeys.node(index, id));
  await deleteItems(table, [...written, ...rootKeys(index, plan.roots_written)]);
  await removeNodes(table, index, plan.replacing);
  await deleteItems(table, [indexKeys.fold(index, name)]);
}

function rootKeys(index: ListIndex, roots: readonly string[]): Key[] {
  return roots.map((sk) => writableKey(indexKeys.partition(index), sk));
}

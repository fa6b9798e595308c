import * as v from 'valibot';
import { foldedVersion, type Head, readHead } from './head.ts';
import { type ListKeys, markPartitions } from './keys.ts';
import type { State } from './node.ts';
import {
  getItem,
  isAbsent,
  type Item,
  type ListTable,
  parseItem,
  putItemIf,
  putItems,
  queryPrefix,
  rememberedByTable,
  steadyTime,
} from './table.ts';
import type { Difference } from './tree.ts';

/** `before` 0: the member comes. `now` 0: it goes. */
export interface Step {
  version: number;
  before: State;
  now: State;
  /** The day that the step is counted on, in days since 1970-01-01. 0: none. */
  day: number;
}

/** The steps of one member in the log, oldest first, in one item: a reader sees the member at one moment. */
export interface Entry {
  number: number;
  steps: Step[];
}

/** A step is stored as one number. */
const [perDay, perState] = [64, 8];

export function logUpdate(keys: ListKeys, number: number, { version, before, now, day }: Step) {
  return {
    Key: keys.entry(number),
    UpdateExpression: 'SET version = :version, #step = :step',
    ExpressionAttributeNames: { '#step': `s${version}` },
    ExpressionAttributeValues: { ':version': version, ':step': day * perDay + before * perState + now },
  };
}

export type LogUpdate = ReturnType<typeof logUpdate>;

export async function readLog(table: ListTable, keys: ListKeys): Promise<Entry[]> {
  const logs = await Promise.all(keys.logs.map((log) => queryPrefix(table, log, keys.prefix)));
  return logs.flat().map((item) => parseEntry(keys, item));
}

export function parseEntry({ prefix }: Pick<ListKeys, 'prefix'>, { sk, ...item }: Item): Entry {
  const number = Number.parseInt(String(sk).slice(prefix.length), 36);
  const steps: Step[] = [];
  for (const [attribute, step] of Object.entries(item)) {
    if (!/^s\d+$/.test(attribute)) continue;
    if (!Number.isSafeInteger(step)) throw new Error(`A stored change of a list is damaged: ${String(step)}`);
    const [day, states] = [Math.floor(Number(step) / perDay), Number(step) % perDay];
    steps.push({ version: Number(attribute.slice(1)), before: Math.floor(states / perState), now: states % perState, day });
  }
  return { number, steps: steps.sort((a, b) => a.version - b.version) };
}

/** Returns the part of the log that is not in the tree. */
export function unfoldedOf(head: Pick<Head, 'folds'>, entries: readonly Entry[]): Entry[] {
  const unfolded = entries.map(({ number, steps }) => {
    const version = foldedVersion(head, number);
    return { number, steps: steps.filter((step) => step.version > version) };
  });
  return unfolded.filter(({ steps }) => steps.length > 0);
}

export function differencesOf(unfolded: readonly Entry[]): Difference[] {
  return unfolded
    .map(({ number, steps }) => ({ number, before: steps[0]?.before ?? 0, now: steps.at(-1)?.now ?? 0 }))
    .filter(({ before, now }) => before !== now)
    .sort((a, b) => a.number - b.number);
}

export function countSteps(entries: readonly Entry[]): number {
  return entries.reduce((count, { steps }) => count + steps.length, 0);
}

const storedMark = v.object({
  sk: v.string(),
  /** The time at which the list was last folded, or first marked. Milliseconds since the Unix epoch. */
  marked_at: v.number(),
});

export type Mark = v.InferOutput<typeof storedMark>;

export async function readMark(table: ListTable, keys: ListKeys): Promise<Mark | undefined> {
  const item = await getItem(table, keys.mark);
  return item && parseItem(storedMark, item, 'mark');
}

export async function readMarks(table: ListTable): Promise<Mark[]> {
  const items = await Promise.all(markPartitions.map((pk) => queryPrefix(table, pk, '')));
  return items.flat().map((item) => parseItem(storedMark, item, 'mark'));
}

/** A fold that began before its list was last marked so long ago has ended or died. */
export const longestFoldInMilliseconds = 60_000;

/**
 * Marks a list before it is folded, so that no mark is removed while a fold may still write.
 * @param mark as it was read; a fold replaces it, at most twice in the time that it may take
 */
export async function markList(table: ListTable, keys: ListKeys, mark: Mark | undefined, isFolded: boolean): Promise<void> {
  const now = table.clock.now();
  const item = { ...keys.mark, marked_at: now };
  const isOld = mark && Math.abs(now - mark.marked_at) >= longestFoldInMilliseconds / 2;
  if (!mark) await putItemIf(table, item, isAbsent);
  else if (isFolded && isOld) await putItems(table, [item]);
}

/** The changes in the log from which on a list without a mark is left to the schedule too. */
const leastToMark = 64;
const changesPerLook = 16;
const lookAgainInMilliseconds = 5_000;
const mostLists = 1_000;

/** Thrown by changes of a list that is not folded. Reads stay exact. */
export class BacklogError extends Error {
  override readonly name = 'BacklogError';
}

interface Look {
  until: number;
  isTooLong: boolean;
}

const looks = rememberedByTable<Look>();

/** @throws BacklogError if this process has seen a moment ago that too much is left */
export function refuseBeyondBacklog(table: ListTable, { name }: ListKeys): void {
  const look = looks(table).get(name);
  if (!look?.isTooLong || steadyTime(table) >= look.until) return;
  throw new BacklogError(`The changes of the list ${name} are not folded.`);
}

/**
 * Looks at the log after one change of sixteen, at most every five seconds, and after each that follows a refused one. Marks the
 * list if much is left and it has lost its mark.
 * @param options.most the changes in the log from which on a list refuses further ones
 */
export async function lookAtLog(
  table: ListTable,
  keys: ListKeys,
  change: { number: number; version: number },
  { most, onBacklog }: { most: number; onBacklog?: ((unfolded: number) => void) | undefined },
): Promise<void> {
  const ofLists = looks(table);
  const last = ofLists.get(keys.name);
  const isTurn = (change.number * 5 + change.version) % changesPerLook === 0 || last?.isTooLong;
  if (!isTurn || (last && steadyTime(table) < last.until)) return;
  if (ofLists.size >= mostLists) ofLists.clear();
  const remember = (isTooLong: boolean) =>
    ofLists.set(keys.name, { until: steadyTime(table) + lookAgainInMilliseconds, isTooLong });
  remember(last?.isTooLong ?? false);
  const head = await readHead(table, keys);
  const unfolded = countSteps(unfoldedOf(head, await readLog(table, keys)));
  remember(unfolded >= most);
  if (unfolded < leastToMark) return;
  onBacklog?.(unfolded);
  await markList(table, keys, await readMark(table, keys), false);
}

const dayInMilliseconds = 24 * 60 * 60 * 1000;

/** Returns the days since 1970-01-01, UTC. */
export function dayOf(milliseconds: number): number {
  return Math.floor(milliseconds / dayInMilliseconds);
}

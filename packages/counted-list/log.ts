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

/**
 * A change of one member in the log of a list, with the codes of the states before and after it. `before` 0: the member is added.
 * `now` 0: the member is removed.
 */
export interface Step {
  version: number;
  before: State;
  now: State;
  /** The day on which the change is counted, in days since 1970-01-01 in UTC. 0: none. */
  day: number;
}

/**
 * An entry of the log: the changes of one member, oldest first. They are in one item, so that a reader sees the member at one
 * moment.
 */
export interface Entry {
  number: number;
  steps: Step[];
}

/**
 * The factors by which a change is stored as one number: the day times 64, plus the state before times 8, plus the state after.
 */
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

/** Returns the changes in the log that are not in the tree yet. */
export function unfoldedOf(head: Pick<Head, 'folds'>, entries: readonly Entry[]): Entry[] {
  const unfolded = entries.map(({ number, steps }) => {
    const version = foldedVersion(head, number);
    return { number, steps: steps.filter((step) => step.version > version) };
  });
  return unfolded.filter(({ steps }) => steps.length > 0);
}

export const differencesOf = (unfolded: readonly Entry[]): Difference[] =>
  unfolded
    .map(({ number, steps }) => ({ number, before: steps[0]?.before ?? 0, now: steps.at(-1)?.now ?? 0 }))
    .filter(({ before, now }) => before !== now)
    .sort((a, b) => a.number - b.number);

export const countSteps = (entries: readonly Entry[]): number => entries.reduce((count, { steps }) => count + steps.length, 0);

const storedMark = v.object({
  sk: v.string(),
  /** The time at which the list was last marked by a fold, or first marked. Milliseconds since the Unix epoch. */
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

/**
 * The longest time that a fold can take, in milliseconds: a fold that began before its list was last marked so long ago has ended
 * or died.
 */
export const longestFoldInMilliseconds = 60_000;

/**
 * Marks a list before it is folded: the schedule folds marked lists, and no mark is removed while a fold may still write.
 * @param mark the mark as it was read. A fold replaces it, at most twice in the time that the fold may take
 */
export async function markList(table: ListTable, keys: ListKeys, mark: Mark | undefined, isFolded: boolean): Promise<void> {
  const now = table.clock.now();
  const item = { ...keys.mark, marked_at: now };
  const isOld = mark && Math.abs(now - mark.marked_at) >= longestFoldInMilliseconds / 2;
  if (!mark) await putItemIf(table, item, isAbsent);
  else if (isFolded && isOld) await putItems(table, [item]);
}

/** The number of changes in the log from which on a list without a mark is marked, so that the schedule folds it too. */
const leastToMark = 64;
const changesPerLook = 16;
const lookAgainInMilliseconds = 5_000;
const mostLists = 10_000;

/** The error for a change of a list that has too many changes that are not folded. Reads of the list stay exact. */
export class BacklogError extends Error {
  override readonly name = 'BacklogError';
}

const looks = rememberedByTable<{ until: number; isTooLong: boolean }>();

/**
 * Refuses a change of a list whose log is too long.
 * @throws BacklogError if this process has seen a moment ago that too many changes are not folded
 */
export function refuseBeyondBacklog(table: ListTable, { name }: ListKeys): void {
  const look = looks(table).get(name);
  if (!look?.isTooLong || steadyTime(table) >= look.until) return;
  throw new BacklogError(`The changes of the list ${name} are not folded.`);
}

/**
 * Looks after a change whether too many changes of a list are not folded: after one change of sixteen, at most every five
 * seconds, and after each change once too many were seen. Marks the list if many are left, so that the schedule folds it.
 * @param options.most the number of changes in the log from which on a list refuses further ones
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

const longestRestInMilliseconds = 30_000;
const rests = rememberedByTable<{ left: number; until: number }>();

/** Remembers that a list need not be folded until `left` more changes have come, or for 30 seconds: before that, a fold costs more than it saves. */
export function rest(table: ListTable, { name }: ListKeys, left: number): void {
  const ofLists = rests(table);
  if (ofLists.size >= mostLists) ofLists.clear();
  ofLists.set(name, { left, until: steadyTime(table) + longestRestInMilliseconds });
}

/** Counts changes of a list, and returns whether the list does not rest any more. */
export function isDue(table: ListTable, { name }: ListKeys, changes: number): boolean {
  const rest = rests(table).get(name);
  if (rest) rest.left -= changes;
  return !rest || rest.left <= 0 || steadyTime(table) >= rest.until;
}

const dayInMilliseconds = 24 * 60 * 60 * 1000;

/** Returns the day of a time, as the number of days since 1970-01-01 in UTC. @param milliseconds the time since the Unix epoch */
export const dayOf = (milliseconds: number): number => Math.floor(milliseconds / dayInMilliseconds);

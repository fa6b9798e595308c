import { foldedVersion, type Head } from './head.ts';
import type { ListKeys } from './keys.ts';
import type { State } from './node.ts';
import { type Item, type ListTable, queryPrefix } from './table.ts';
import type { Difference } from './tree.ts';

/** `before` 0: the member comes. `now` 0: it goes. */
export interface Step {
  version: number;
  before: State;
  now: State;
  /** Since 1970-01-01. 0: the days do not count it. */
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

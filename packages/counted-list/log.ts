import type { Key, ListKeys } from './keys.ts';
import type { State } from './node.ts';
import type { Difference } from './select.ts';
import { type Item, type ListTable, queryPrefix } from './table.ts';

/** How a member comes (`before` 0), moves to another state or goes (`now` 0). */
export interface Step {
  /** Grows with each change of the member. */
  version: number;
  before: State;
  now: State;
  /** The day since 1970-01-01 on which it entered the state, if the days count it. */
  day?: number | undefined;
}

/**
 * The steps of one member that are still in the log, oldest first. They are in one item, so that a reader sees the member at one
 * moment. Two members share no item.
 */
export interface Entry {
  key: Key;
  number: number;
  steps: StoredStep[];
}

/** A step as it is stored. Most steps in a busy log are in the tree already, so that nobody decodes them. */
interface StoredStep {
  version: number;
  text: string;
}

/** An update for the transaction that makes the change. */
export interface LogUpdate {
  Key: Key;
  UpdateExpression: string;
  ExpressionAttributeNames: Record<string, string>;
  ExpressionAttributeValues: Record<string, unknown>;
}

export function logUpdate(keys: ListKeys, number: number, { version, before, now, day }: Step): LogUpdate {
  return {
    Key: keys.entry(number),
    UpdateExpression: 'SET version = :version, #step = :step',
    ExpressionAttributeNames: { '#step': `s${version}` },
    ExpressionAttributeValues: { ':version': version, ':step': `${before}${now}${day === undefined ? '' : ` ${day}`}` },
  };
}

/** Reads the log. Each entry is as it was at one moment. */
export async function readLog(table: ListTable, keys: ListKeys): Promise<Entry[]> {
  const logs = await Promise.all(keys.logs.map((log) => queryPrefix(table, log, keys.prefix)));
  return logs.flat().map((item) => parseEntry(keys, item));
}

export function parseEntry({ prefix }: Pick<ListKeys, 'prefix'>, item: Item): Entry {
  const key = { pk: String(item['pk']), sk: String(item['sk']) };
  const number = Number.parseInt(key.sk.slice(prefix.length), 36);
  const steps: StoredStep[] = [];
  for (const [attribute, value] of Object.entries(item)) {
    if (/^s\d+$/.test(attribute)) steps.push({ version: Number(attribute.slice(1)), text: String(value) });
  }
  if (steps.length > 1) steps.sort((a, b) => a.version - b.version);
  return { key, number, steps };
}

/** @throws Error if the text is no step; an internal error */
function decodeStep({ version, text }: StoredStep): Step {
  const [, before, now, day] = /^([0-7])([0-7])(?: (\d+))?$/.exec(text) ?? [];
  if (before === undefined) throw new Error(`A stored change of a list is damaged: ${text}`);
  return { version, before: Number(before), now: Number(now), day: day === undefined ? undefined : Number(day) };
}

/** The steps of one member that the tree does not contain. */
export interface Unfolded {
  number: number;
  steps: Step[];
}

/** @param foldedVersion returns the version up to which the tree contains the steps of a member */
export function unfoldedOf(entries: readonly Entry[], foldedVersion: (number: number) => number): Unfolded[] {
  return entries.flatMap(({ number, steps }) => {
    const version = foldedVersion(number);
    const unfolded = steps.filter((step) => step.version > version);
    return unfolded.length > 0 ? [{ number, steps: unfolded.map(decodeStep) }] : [];
  });
}

/** Returns how members differ from the tree, sorted by number. */
export function differencesOf(unfolded: readonly Unfolded[]): Difference[] {
  return unfolded
    .map(({ number, steps }) => ({ number, before: steps[0]?.before ?? 0, now: steps.at(-1)?.now ?? 0 }))
    .filter(({ before, now }) => before !== now)
    .sort((a, b) => a.number - b.number);
}

export function countSteps(unfolded: readonly { steps: readonly unknown[] }[]): number {
  return unfolded.reduce((count, { steps }) => count + steps.length, 0);
}

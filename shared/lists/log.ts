import * as v from 'valibot';
import type { State } from './node.ts';
import type { Action } from '../table/transaction.ts';
import { indexKeys, type IndexPlace } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { readSettled } from '../table/fresh-reads.ts';
import type { Item, Table } from '../table/table.ts';

/**
 * The index of one or more lists that change together, such as the computations and the runs of a domain. It consists of
 *   the log    an entry for each resource that changed: which members came, moved to another state or went
 *   the head   totals, the newest members, and which entries the trees contain already
 *   the trees  see node.ts; one for each list, and one for each filter with many values
 * A change writes only its own entry, so that two changes never meet. Folding moves entries into the trees (fold.ts).
 * The `scope` is the partition of its first list's rows.
 */
export interface ListIndex extends IndexPlace {
  /** The id of each list's tree, with the id of its filter's tree if it has one. */
  trees: Readonly<Record<string, string | undefined>>;
  /** The ids of the lists whose filter has a group for every few members, such as runs by computation. */
  listsOfSmallGroups?: readonly string[];
}

/** A member that came, moved to another state or went. State 0: no member. */
export interface MemberChange {
  /** The id of the list's tree. */
  list: string;
  number: number;
  before: State;
  now: State;
  /** The member's group in the tree of the list's filter. Without `/` and space. */
  group?: string;
  /** The group before, if that was another one. */
  groupBefore?: string;
}

/** What is known of a step in the log before it is decoded. */
export interface LoggedStep {
  /** Grows with each change of the resource. */
  version: number;
  /** The entry of another resource that changed the same member before, and its version then. Readers must see that step too. */
  after?: { name: string; version: number };
}

/** A change of a resource: the members that changed with it, in one transaction. */
export interface Step extends LoggedStep {
  changes: MemberChange[];
  /** A status that a computation entered, for the statistics: the day since 1970-01-01 and the state. */
  entered?: { day: number; state: State };
}

/** A step as it is stored. Most steps in a busy log are in the trees already, so that nobody decodes them. */
export interface StoredStep extends LoggedStep {
  text: string;
}

/** The changes of one resource that are still in the log, oldest first. */
export interface LogEntry<S extends LoggedStep = Step> {
  /** The log's partition. */
  log: string;
  name: string;
  steps: S[];
}

const stepPrefix = 's';

/**
 * Returns the action that logs a change, for the transaction of the change. All changes of a resource go to one entry, and a
 * condition on the resource's row keeps their versions in order. So a reader sees each resource at one moment.
 */
export function logChange(index: ListIndex, resource: number, step: Step, name = nameOfResource(resource)): Action {
  return {
    update: {
      Key: indexKeys.entry(index, resource, name),
      UpdateExpression: 'SET version = :version, #step = :step',
      ExpressionAttributeNames: { '#step': stepPrefix + String(step.version) },
      ExpressionAttributeValues: { ':version': step.version, ':step': encodeStep(step) },
    },
  };
}

/** The version of a step after which its resource never changes again. */
export const lastVersion = 2 ** 40;

export function nameOfResource(number: number): string {
  return number.toString(36);
}

/**
 * Encodes a step as words, such as `c12rs/bob/alice 20778:2 >rt:3`:
 *   c12rs/bob/alice  in the list c, from state 1 to 2, the member with the number rs in base 36, its group and its group before
 *   20778:2          `entered`: the day and the state
 *   >rt:3            `after`: the entry and its version
 */
function encodeStep({ changes, entered, after }: Step): string {
  const parts = changes.map(({ list, before, now, number, group, groupBefore }) => {
    const groups = [group, groupBefore].filter((each) => each !== undefined);
    return [`${list}${before}${now}${number.toString(36)}`, ...groups].join('/');
  });
  if (entered) parts.push(`${entered.day}:${entered.state}`);
  if (after) parts.push(`>${after.name}:${after.version}`);
  return parts.join(' ');
}

const changePattern = /^([a-z])([0-7])([0-7])([0-9a-z]+)(?:\/([^/]*))?(?:\/([^/]*))?$/;
const enteredPattern = /^(\d+):([1-7])$/;
const afterPattern = /^>([^ ]+):(\d+)$/;

/** @throws Error if the text is no step; an internal error */
export function decodeStep({ version, after, text }: StoredStep): Step {
  const step: Step = { version, changes: [], ...(after && { after }) };
  for (const word of text.split(' ')) {
    if (word.startsWith('>')) continue;
    const [, day, state] = enteredPattern.exec(word) ?? [];
    if (day === undefined) step.changes.push(decodeChange(word));
    else step.entered = { day: Number(day), state: Number(state) };
  }
  return step;
}

function decodeChange(word: string): MemberChange {
  const [, list, before, now, number, group, groupBefore] = changePattern.exec(word) ?? [];
  if (list === undefined || number === undefined) throw damaged(word);
  const change: MemberChange = { list, number: Number.parseInt(number, 36), before: Number(before), now: Number(now) };
  if (group !== undefined) change.group = group;
  if (groupBefore !== undefined) change.groupBefore = groupBefore;
  return change;
}

/** Returns what the step comes after, which is its last word. */
function decodeAfter(text: string): LoggedStep['after'] {
  const at = text.indexOf('>');
  if (at < 0) return undefined;
  const [, name, version] = afterPattern.exec(text.slice(at)) ?? [];
  if (name === undefined) throw damaged(text);
  return { name, version: Number(version) };
}

function damaged(text: string): Error {
  return new Error(`A stored change of a list is damaged: ${text}`);
}

const storedEntry = v.object({ pk: v.string(), sk: v.string(), version: v.pipe(v.number(), v.integer()) });

/** @throws Error if the item is no entry; an internal error */
export function parseEntry(item: Item): LogEntry<StoredStep> {
  const { pk: log, sk: name } = parseStored(storedEntry, item, 'change of a list');
  const steps = Object.entries(item)
    .filter(([attribute]) => /^s\d+$/.test(attribute))
    .map(([attribute, value]) => storedStep(Number(attribute.slice(stepPrefix.length)), String(value)))
    .sort((a, b) => a.version - b.version);
  return { log, name, steps };
}

function storedStep(version: number, text: string): StoredStep {
  const after = decodeAfter(text);
  return { version, text, ...(after && { after }) };
}

/** Returns the attributes of an entry's steps up to a version. */
export function attributesUpTo({ steps }: LogEntry<LoggedStep>, version: number): string[] {
  return steps.filter((step) => step.version <= version).map((step) => stepPrefix + String(step.version));
}

/**
 * Returns whether a step of a resource is still in the log. Once it is not, it never is again, and no read that begins later needs to see
 * it: the trees have contained it for at least four seconds.
 */
export async function isLogged(table: Table, index: ListIndex, resource: number, version: number): Promise<boolean> {
  const [entry] = await readSettled(table, [indexKeys.entry(index, resource, nameOfResource(resource))]);
  return entry !== undefined && parseEntry(entry).steps.some((step) => step.version === version);
}

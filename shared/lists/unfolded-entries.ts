import { bytesToName, type Fold, foldedVersion, type Head } from './head.ts';
import {
  decodeStep,
  type ListIndex,
  type LogEntry,
  type LoggedStep,
  type MemberChange,
  parseEntry,
  type StoredStep,
} from './log.ts';
import { comparePlaces, type Member, placeName } from './node.ts';
import type { Difference } from './select-members.ts';
import { indexKeys } from '../table/keys.ts';
import { queryPartition, type Table } from '../table/table.ts';

/** Returns the entries' steps that the head's trees do not contain. Entries without such steps are left out. */
export function unfoldedEntries(head: Head, entries: readonly LogEntry<StoredStep>[]): LogEntry[] {
  return entries.flatMap(({ log, name, steps }) => {
    const version = foldedVersion(head, name);
    const unfolded = steps.filter((step) => step.version > version);
    return unfolded.length > 0 ? [{ log, name, steps: unfolded.map(decodeStep) }] : [];
  });
}

/** Returns how the members of each tree differ from the tree, by the tree's id. */
export function differencesOf(index: ListIndex, unfolded: readonly LogEntry[]): Map<string, Difference[]> {
  const treeIds = Object.entries(index.trees).flatMap(([list, filter]) => (filter === undefined ? [list] : [list, filter]));
  return new Map(treeIds.map((treeId) => [treeId, differencesIn(index, treeId, unfolded)]));
}

/** Returns how the members of a tree differ from it. */
export function differencesIn({ trees }: ListIndex, treeId: string, unfolded: readonly LogEntry[]): Difference[] {
  const isList = treeId in trees;
  const list = isList ? treeId : Object.keys(trees).find((each) => trees[each] === treeId);
  const changes = list === undefined ? [] : overallChanges(list, unfolded);
  return changes.flatMap(isList ? differenceInList : differencesByGroup).sort(comparePlaces);
}

/** Returns how each member of a list has changed, from before its first to after its last change. */
function overallChanges(list: string, unfolded: readonly LogEntry[]): MemberChange[] {
  const inOrder = unfolded.flatMap(({ steps }) => steps).sort((a, b) => a.version - b.version);
  const members = new Map<number, MemberChange[]>();
  for (const change of inOrder.flatMap(({ changes }) => changes)) {
    if (change.list !== list) continue;
    const ofMember = members.get(change.number);
    if (ofMember) ofMember.push(change);
    else members.set(change.number, [change]);
  }
  return [...members.values()].flatMap((ofMember) => overall(ofMember) ?? []);
}

/** Returns the change from before the first to after the last; undefined if nothing has changed. */
function overall(changes: readonly MemberChange[]): MemberChange | undefined {
  const [first, last] = [changes[0], changes.at(-1)];
  if (!first || !last) return undefined;
  const groupBefore = first.groupBefore ?? first.group;
  if (first.before === last.now && groupBefore === last.group) return undefined;
  return { ...last, before: first.before, ...(groupBefore === undefined ? {} : { groupBefore }) };
}

function differenceInList({ number, before, now }: MemberChange): Difference[] {
  return before === now ? [] : [{ group: '', number, before, now }];
}

/** A member that changes its group goes from one place of the tree and comes to another. */
function differencesByGroup({ number, before, now, group = '', groupBefore = group }: MemberChange): Difference[] {
  if (group === groupBefore) return [{ group, number, before, now }];
  return [
    { group: groupBefore, number, before, now: 0 },
    { group, number, before: 0, now },
  ];
}

/** Returns the version of each entry's last step, by the entry's name. */
export function versionsOf(entries: readonly LogEntry<LoggedStep>[]): Map<string, number> {
  return new Map(entries.map(({ name, steps }) => [name, steps.at(-1)?.version ?? 0]));
}

/**
 * Returns each member of a list that the entries mention as it was before them: with its state in the group that it was in, and
 * with state 0 in each group that it came to.
 */
export function firstStates(list: string, entries: readonly LogEntry[]): Member[] {
  const inOrder = entries.flatMap(({ steps }) => steps).sort((a, b) => a.version - b.version);
  const known = new Set<number>();
  const states = new Map<string, Member>();
  for (const { number, before, group = '', groupBefore = group, list: of } of inOrder.flatMap(({ changes }) => changes)) {
    if (of !== list) continue;
    const state = known.has(number) ? 0 : before;
    known.add(number);
    for (const member of [
      { group: groupBefore, number, state },
      { group, number, state: 0 },
    ]) {
      const place = placeName(member);
      if (!states.has(place)) states.set(place, member);
    }
  }
  return [...states.values()];
}

/** Reads the partitions of the log in parallel, so that they may show different moments. See readWholeLog. */
export async function readLog(table: Table, index: ListIndex): Promise<LogEntry<StoredStep>[]> {
  const logs = await Promise.all(indexKeys.logs(index).map((log) => queryPartition(table, log)));
  return logs.flat().map(parseEntry);
}

/**
 * Reads the log, and reads it again if a step was read without the step that it comes after (`after`), because the partitions
 * were read at different moments. If the second read lacks the earlier step too, that was folded and deleted before.
 */
export async function readWholeLog(table: Table, index: ListIndex, head: Head): Promise<LogEntry<StoredStep>[]> {
  const awaited = new Set<string>();
  for (;;) {
    const entries = await readLog(table, index);
    const missing = missingBefore(head, entries).filter((each) => !awaited.has(each));
    if (missing.length === 0) return entries;
    for (const each of missing) awaited.add(each);
  }
}

/**
 * Returns the steps that others come after and that are neither in the log nor folded by the head's folds, as `entry:version`. What a
 * step that is folded comes after is in the trees, too.
 */
export function missingBefore(head: Head, entries: readonly LogEntry<LoggedStep>[]): string[] {
  const logged = versionsOf(entries);
  return entries
    .flatMap(({ name, steps }) => steps.filter(({ after, version }) => after && version > foldedVersion(head, name)))
    .flatMap(({ after }) => after ?? [])
    .filter(({ name, version }) => foldedVersion(head, name) < version && (logged.get(name) ?? 0) < version)
    .map(({ name, version }) => `${name}:${version}`);
}

/**
 * A fold records each node that it writes or replaces in one item, its plan. If each change has three leaves of its own, and each
 * of these an inner node, the plan takes 300 KB of the 400 KB that an item may have.
 */
export const maxChangesOfFold = 2_000;
/** Half of what the head, one item, may have. Most entries take 6 to 8 bytes, those of purged runs 16. */
const maxNamedBytes = 200_000;

/**
 * Returns the entries that the next fold takes, up to its limits. An entry that must come after another one is taken after it. The
 * others can wait, since each counts by its own version.
 * @param folds those that the head names already
 */
export function partToFold(unfolded: readonly LogEntry[], folds: readonly Fold[]): LogEntry[] {
  const part: LogEntry[] = [];
  let changes = 0;
  let bytes = folds.reduce((sum, { entries }) => sum + bytesToName(entries), 0);
  for (const entry of orderedByDependency(unfolded)) {
    changes += entry.steps.reduce((sum, step) => sum + step.changes.length, 0);
    bytes += bytesToName(versionsOf([entry]));
    const isTooMuch = changes > maxChangesOfFold && part.length > 0;
    if (isTooMuch || bytes > maxNamedBytes) break;
    part.push(entry);
  }
  return part;
}

/** Returns the entries ordered so that each follows the one that its steps name in `after`, which has no `after` itself. */
function orderedByDependency(entries: readonly LogEntry[]): Set<LogEntry> {
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  const ordered = new Set<LogEntry>();
  for (const entry of entries) {
    for (const { after } of entry.steps) {
      const earlier = after && byName.get(after.name);
      if (earlier) ordered.add(earlier);
    }
    ordered.add(entry);
  }
  return ordered;
}

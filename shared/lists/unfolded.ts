import { foldedVersion, type Head } from './head.ts';
import type { ListIndex } from './list-index.ts';
import { decodeStep, type LogEntry, type LoggedStep, type MemberChange, type StoredStep } from './log.ts';
import { comparePlaces, placeName, type Member } from './node.ts';
import type { Difference } from './select-members.ts';

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

import { foldedVersions, type Head } from './head.ts';
import type { ListIndex } from './list-index.ts';
import type { LogEntry, MemberChange } from './log.ts';
import { comparePlaces, type Place } from './node.ts';
import type { Difference } from './select-members.ts';

/** Returns the entries' steps that the head's trees do not contain. Entries without such steps are left out. */
export function unfoldedEntries(head: Head, entries: readonly LogEntry[]): LogEntry[] {
  const folded = foldedVersions(head);
  return entries.flatMap(({ log, name, steps }) => {
    const version = folded.get(name) ?? 0;
    const unfolded = steps.filter((step) => step.version > version);
    return unfolded.length > 0 ? [{ log, name, steps: unfolded }] : [];
  });
}

/** Returns how the members of each tree differ from the tree, by the tree's letter. */
export function differencesOf(index: ListIndex, unfolded: readonly LogEntry[]): Map<string, Difference[]> {
  const differences = new Map<string, Difference[]>();
  const inOrder = changesInOrder(unfolded);
  for (const [list, filter] of Object.entries(index.trees)) {
    const members = new Map<number, MemberChange[]>();
    for (const change of inOrder) {
      if (change.list === list) members.set(change.number, [...(members.get(change.number) ?? []), change]);
    }
    const changes = [...members.values()].flatMap((ofMember) => overall(ofMember) ?? []);
    differences.set(
      list,
      toDifferences(changes, ({ number }) => ({ group: '', number })),
    );
    if (filter === undefined) continue;
    differences.set(
      filter,
      toDifferences(changes, ({ group = '', number }) => ({ group, number })),
    );
  }
  return differences;
}

function changesInOrder(entries: readonly LogEntry[]): MemberChange[] {
  const steps = entries.flatMap((entry) => entry.steps).sort((a, b) => a.version - b.version);
  return steps.flatMap(({ changes }) => changes);
}

/** Returns the change from before the first to after the last; undefined if nothing has changed. */
function overall(changes: readonly MemberChange[]): MemberChange | undefined {
  const [first, last] = [changes[0], changes.at(-1)];
  if (!first || !last || first.before === last.now) return undefined;
  return { ...last, before: first.before };
}

function toDifferences(changes: readonly MemberChange[], placeOf: (change: MemberChange) => Place): Difference[] {
  return changes.map((change) => ({ ...placeOf(change), before: change.before, now: change.now })).sort(comparePlaces);
}

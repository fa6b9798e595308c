import { listKeys } from '../table/keys.ts';
import { readSettled } from '../table/read-settled.ts';
import type { Item, Table } from '../table/table.ts';
import type { Head } from './head.ts';
import { memberOfRow, type IndexedList } from './indexed-list.ts';
import type { LogEntry, MemberChange } from './log.ts';
import { comparePlaces, placeName, type Member } from './node.ts';
import { readWholeLog } from './read-log.ts';
import { lastStates, unfoldedEntries, versionsOf } from './unfolded.ts';

const rowsPerRead = 100;

/**
 * Returns the members of a list that unfolded log entries mention, in the states of their rows. State 0: no member in this group. Functions
 * of version 1.0.0, which work during a deployment and after a rollback, change and delete rows without the log, so its last word
 * may be outdated.
 */
export async function membersByRows(
  table: Table,
  list: IndexedList,
  head: Head,
  entries: readonly LogEntry[],
): Promise<Member[]> {
  const logged = lastStates(list.tree, entries);
  const present = logged.filter(({ state }) => state !== 0);
  if (present.length === 0) return logged;
  const rows = await readRowsOf(table, list, [...new Set(present.map(({ number }) => number))]);
  // Whatever wrote a row that was just read has also written its log entry.
  const unfolded = unfoldedEntries(head, await readWholeLog(table, list.index, head));
  const later = firstChanges(list, unfolded, versionsOf(entries));
  const found = present.flatMap(({ number }) => memberAt(list, number, { row: rows.get(number), later: later.get(number) }));
  const places = new Set(found.map(placeName));
  const left = logged.filter((member) => !places.has(placeName(member))).map((member) => ({ ...member, state: 0 }));
  return [...left, ...found];
}

/** Returns the changes of one of the list's trees that set these members. A member with a state counts before one without. */
export function toSetIn(treeId: string, list: IndexedList, members: readonly Member[]): Member[] {
  const places = new Map<string, Member>();
  for (const member of members) {
    const placed = treeId === list.tree ? { ...member, group: '' } : member;
    const place = placeName(placed);
    if (member.state > 0 || !places.has(place)) places.set(place, placed);
  }
  return [...places.values()].sort(comparePlaces);
}

/** Returns the member as it is before its later changes, which the trees get by the log. Empty if there was none. */
function memberAt(
  list: IndexedList,
  number: number,
  { row, later }: { row: Item | undefined; later: MemberChange | undefined },
): Member[] {
  if (later) return later.before === 0 ? [] : [{ number, group: later.groupBefore ?? later.group ?? '', state: later.before }];
  return row ? [memberOfRow(list, row)] : [];
}

async function readRowsOf(table: Table, { rows: list }: IndexedList, numbers: readonly number[]): Promise<Map<number, Item>> {
  const rows = new Map<number, Item>();
  for (let start = 0; start < numbers.length; start += rowsPerRead) {
    const part = numbers.slice(start, start + rowsPerRead);
    const found = await readSettled(
      table,
      part.map((number) => listKeys.row(list, number)),
    );
    for (const [index, number] of part.entries()) {
      const row = found[index];
      if (row) rows.set(number, row);
    }
  }
  return rows;
}

/** Returns the first change of each member of a list in steps after these versions of their entries. */
function firstChanges(
  { tree }: IndexedList,
  entries: readonly LogEntry[],
  versions: ReadonlyMap<string, number>,
): Map<number, MemberChange> {
  const steps = entries.flatMap(({ name, steps }) => steps.filter(({ version }) => version > (versions.get(name) ?? 0)));
  const newestFirst = steps.sort((a, b) => b.version - a.version).flatMap(({ changes }) => changes);
  return new Map(newestFirst.filter(({ list }) => list === tree).map((change) => [change.number, change]));
}

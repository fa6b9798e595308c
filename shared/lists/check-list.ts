import { listKeys } from '../table/keys.ts';
import { clockOf, queryBetween, type Item, type Table } from '../table/table.ts';
import { memberOfRow, treeIdsOf, type IndexedList } from './indexed-list.ts';
import { afterAllNumbers, countsOf, placeName, sumOf, type Child, type Member, type State, type TreeNode } from './node.ts';
import { allStates } from './read-page.ts';
import { membersBetween, type OnChild, type View } from './select-members.ts';
import { withSnapshot, type Snapshot } from './snapshot.ts';

/** A member that a list's index has in another state than its row. State 0: it is not there. */
export interface Mismatch {
  /** The id of the tree: that of the list, or that of its filter. */
  tree: string;
  group: string;
  number: number;
  row: State;
  index: State;
}

export interface CheckedPage {
  rows: number;
  mismatches: Mismatch[];
  /** The nodes whose parent has other counts than they have themselves, as sentences. Several pages may find the same node. */
  wrongCounts: string[];
  /** Where the next page begins; undefined after the last one. */
  next: number | undefined;
}

const rowsPerPage = 500;
/** Rows and index are read at different moments, so what differs is read again. A change that is under way is over by then. */
const reads = 3;
const pauseInMilliseconds = 1_500;

/** Compares the index with the next 500 rows from a number on, while changes go on. */
export async function checkPage(table: Table, list: IndexedList, from: number): Promise<CheckedPage> {
  const clock = clockOf(table);
  let page = await comparePage(table, list, from);
  for (let read = 1; read < reads && page.mismatches.length > 0; read++) {
    await clock.wait(pauseInMilliseconds);
    const again = await comparePage(table, list, from);
    const lasting = new Set(page.mismatches.map(textOf));
    page = { ...again, mismatches: again.mismatches.filter((mismatch) => lasting.has(textOf(mismatch))) };
  }
  return page;
}

function textOf({ tree, group, number, row, index }: Mismatch): string {
  return [tree, group, number, row, index].join(' ');
}

function comparePage(table: Table, list: IndexedList, from: number): Promise<CheckedPage> {
  const filter = list.index.trees[list.tree];
  const compare = async (snapshot: Snapshot, rows: Item[] = []): Promise<CheckedPage> => {
    const isLast = rows.length < rowsPerPage;
    const members = rows.map((row) => memberOfRow(list, row));
    const to = isLast ? afterAllNumbers : (members.at(-1)?.number ?? 0) + 1;
    const view = await snapshot.view(list.tree);
    const wrongCounts: string[] = [];
    const compareCounts = (tree: string) => (child: Child, node: TreeNode) => {
      if (countsOf(node).join() === child.counts.join()) return;
      const { group, number } = child.first;
      wrongCounts.push(
        `${list.rows.pk}: the node of the tree ${tree} that begins with number ${number}${group && ` of ${group}`} has the counts ` +
          `${countsOf(node).join(', ')}, its parent ${child.counts.join(', ')}.`,
      );
    };
    const places = [
      { group: '', number: from },
      { group: '', number: to },
    ] as const;
    const indexed = await membersBetween(view, ...places, compareCounts(list.tree));
    const mismatches = compareMembers(
      list.tree,
      members.map((member) => ({ ...member, group: '' })),
      indexed,
    );
    if (filter !== undefined) {
      const same = await sameMembers(await snapshot.view(filter), members, compareCounts(filter));
      mismatches.push(...compareMembers(filter, members, same));
    }
    return { rows: rows.length, mismatches, wrongCounts: [...new Set(wrongCounts)], next: isLast ? undefined : to };
  };
  const first = listKeys.row(list.rows, from);
  return withSnapshot(table, list.index, compare, {
    roots: treeIdsOf(list),
    alsoRead: () => queryBetween(table, first, listKeys.row(list.rows, afterAllNumbers), { limit: rowsPerPage }),
  });
}

/** Reads what a filter's tree has in the places of members. */
async function sameMembers(view: View, members: readonly Member[], onChild: OnChild): Promise<Member[]> {
  const found = members.map(({ group, number }) =>
    membersBetween(view, { group, number }, { group, number: number + 1 }, onChild),
  );
  return (await Promise.all(found)).flat();
}

function compareMembers(tree: string, rows: readonly Member[], indexed: readonly Member[]): Mismatch[] {
  const inIndex = new Map(indexed.map((member) => [placeName(member), member]));
  const inRows = new Set(rows.map(placeName));
  const wrong = rows.flatMap((member) => {
    const state = inIndex.get(placeName(member))?.state ?? 0;
    return state === member.state ? [] : [{ tree, group: member.group, number: member.number, row: member.state, index: state }];
  });
  const extra = indexed.filter((member) => !inRows.has(placeName(member)));
  return [...wrong, ...extra.map(({ group, number, state }) => ({ tree, group, number, row: 0, index: state }))];
}

/**
 * Compares the totals of an index with each other, at one moment: those of the head and of each tree.
 * @returns what differs, as sentences
 */
export function checkTotals(table: Table, list: IndexedList): Promise<string[]> {
  const filter = list.index.trees[list.tree];
  const compare = async (snapshot: Snapshot): Promise<string[]> => {
    const counts = countsOf((await snapshot.view(list.tree)).tree);
    const ofHead = snapshot.head.totals[list.tree] ?? [];
    const differing = counts.flatMap((count, state) => {
      const inHead = ofHead[state] ?? 0;
      return inHead === count ? [] : [`${list.rows.pk}: the head counts ${inHead} members in state ${state}, the tree ${count}.`];
    });
    if (filter === undefined) return differing;
    const inFilter = sumOf(countsOf((await snapshot.view(filter)).tree), new Set(allStates));
    const inTree = sumOf(counts, new Set(allStates));
    if (inFilter !== inTree)
      differing.push(`${list.rows.pk}: the tree of the filter has ${inFilter} members, the list ${inTree}.`);
    return differing;
  };
  return withSnapshot(table, list.index, compare, { roots: treeIdsOf(list) });
}

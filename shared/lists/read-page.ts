import { type IndexedList, stateOf, stateOfRow } from './indexed-list.ts';
import { afterAllNumbers, type State, stateCount, sumOf } from './node.ts';
import { countMembers, membersAt, type Selected, selectMembers } from './select-members.ts';
import { type Snapshot, withSnapshot } from './snapshot.ts';
import { listKeys } from '../table/keys.ts';
import { SharedReads } from '../table/shared-reads.ts';
import { getItems, type Item, queryBetween, queryPrefix, type Table } from '../table/table.ts';

/** `limit` is 1 to 100, `offset` is 0 or more. */
export interface PageRequest {
  limit: number;
  offset: number;
  /** Only members in this state. */
  state?: string | undefined;
  /** Only members of this group of the list's filter. */
  group?: string | undefined;
}

export interface Page {
  /** Newest first. */
  rows: Item[];
  /** The number of all members that match, on this and all other pages. */
  total: number;
}

/** Pages within this many members are read together with the newest rows. */
const firstMembers = 50;
/** Up to this many numbers for each wanted row, one query over the whole span is cheaper than reading the rows one by one. */
const maxSpanPerRow = 4;

/**
 * Reads a page of the list, newest member first, and the exact total. Both are of one moment, and contain every change that was
 * acknowledged before. A row that is deleted during the read, or matches no longer, is left out. First pages take one round trip,
 * others of up to 15 million members at most four; the cost does not depend on the offset.
 */
export async function readPage(table: Table, list: IndexedList, request: PageRequest): Promise<Page> {
  const { limit, offset, group } = request;
  const isFirst = group === undefined && (offset === 0 || offset + limit <= firstMembers);
  const tree = group === undefined ? list.tree : list.index.trees[list.tree];
  if (tree === undefined) throw new TypeError(`The list ${list.rows.pk} has no groups.`);
  const readSelected = async (snapshot: Snapshot, ahead: readonly Item[] = []): Promise<Page> => {
    const { numbers, total } = await selectPage(snapshot, list, { tree, request });
    if (isFirst) rememberPage(table, list, request, numbers);
    const isMatch = (row: Item) => matches(list, request, row);
    // A row that came into the state after it was read ahead is read again.
    const rows = await readRows(table, list, numbers, ahead.filter(isMatch));
    return { rows: rows.filter(isMatch), total };
  };
  return withSnapshot(table, list.index, readSelected, {
    roots: isFirst ? [] : [tree],
    alsoRead: isFirst ? () => readRowsAhead(table, list, request) : undefined,
  });
}

function matches(list: IndexedList, { state, group }: PageRequest, row: Item): boolean {
  const isInState = state === undefined || stateOfRow(list, row) === stateOf(list, state);
  return isInState && (group === undefined || list.groupOf?.(row) === group);
}

/** Selects from the newest members, which were read with the head, if the page is within them. */
async function selectPage(
  snapshot: Snapshot,
  list: IndexedList,
  { tree, request: { limit, offset, state, group = '' } }: { tree: string; request: PageRequest },
): Promise<Selected> {
  const states = statesOf(list, { state });
  if (tree !== list.tree) return selectMembers(await snapshot.view(tree), { group, states }, { offset, limit });
  const total = totalOf(snapshot, list, states);
  const { view, from } = snapshot.newest(tree);
  const isInHead = from === 0 || countMembers(view, states) >= Math.min(offset + limit, total);
  const position = { skip: offset, take: Math.min(limit, total - offset) };
  return { numbers: await membersAt(isInHead ? view : await snapshot.view(tree), states, position), total };
}

function statesOf(list: IndexedList, { state }: Pick<PageRequest, 'state'>): ReadonlySet<State> {
  return new Set(state === undefined ? allStates : [stateOf(list, state)]);
}

export const allStates = Array.from({ length: stateCount - 1 }, (_, index) => index + 1);

function totalOf(snapshot: Snapshot, list: IndexedList, states: ReadonlySet<State>): number {
  let total = sumOf(snapshot.head.totals[list.tree] ?? [], states);
  for (const { before, now } of snapshot.differences(list.tree)) total += Number(states.has(now)) - Number(states.has(before));
  return total;
}

/** Returns the rows of the numbers, in their order. Reads those that are not among `ahead`. */
async function readRows(table: Table, list: IndexedList, numbers: readonly number[], ahead: readonly Item[]): Promise<Item[]> {
  const rows = new Map<unknown, Item>(ahead.map((row) => [row['sk'], row]));
  const missing = numbers.filter((number) => !rows.has(listKeys.row(list.rows, number).sk));
  for (const row of await readMissing(table, list, missing)) rows.set(row['sk'], row);
  return numbers.flatMap((number): Item[] => {
    const row = rows.get(listKeys.row(list.rows, number).sk);
    return row ? [row] : [];
  });
}

async function readMissing(table: Table, { rows }: IndexedList, numbers: readonly number[]): Promise<Item[]> {
  const [newest, oldest] = [numbers.at(0), numbers.at(-1)];
  if (newest === undefined || oldest === undefined) return [];
  if (newest - oldest < numbers.length * maxSpanPerRow) {
    return queryBetween(table, listKeys.row(rows, oldest), listKeys.row(rows, newest), { newestFirst: true });
  }
  const keys = numbers.map((number) => listKeys.row(rows, number));
  const found = await getItems(table, keys);
  return found.filter((row) => row !== undefined);
}

/** With a filter by state, this many rows are read ahead for each row of the page. */
const rowsPerWanted = 4;
const maxRows = 100;

/**
 * Where the rows of first pages by state were when this process last read them, by the client of the table. They are a guess of the
 * rows to read together with the index. The index alone decides what is on a page.
 */
const lastPages = new WeakMap<object, Map<string, { oldest: number; isScattered: boolean }>>();
const maxPages = 1_000;

const nameOf = ({ rows }: IndexedList, { state = '', offset, limit }: PageRequest) => [rows.pk, state, offset, limit].join(' ');

const rowsAhead = new SharedReads<readonly Item[]>();

/** Reads the rows that are probably on a first page: the newest ones, or those where the page was before. */
function readRowsAhead(table: Table, list: IndexedList, request: PageRequest): Promise<readonly Item[]> {
  return rowsAhead.share(table, nameOf(list, request), () => queryRowsAhead(table, list, request));
}

async function queryRowsAhead(table: Table, list: IndexedList, request: PageRequest): Promise<Item[]> {
  const { limit, offset, state } = request;
  const newest = (rows: number) => queryPrefix(table, list.rows.pk, listKeys.prefixes.row, { limit: rows, newestFirst: true });
  if (state === undefined) return newest(offset + limit);
  const rows = Math.min(maxRows, (offset + limit) * rowsPerWanted);
  const last = lastPages.get(table.document)?.get(nameOf(list, request));
  if (!last) return newest(rows);
  if (last.isScattered) return [];
  return queryBetween(table, listKeys.row(list.rows, last.oldest), listKeys.row(list.rows, afterAllNumbers), { limit: rows });
}

/** Remembers where the rows of a first page by state are. @param numbers newest first */
function rememberPage(table: Table, list: IndexedList, request: PageRequest, numbers: readonly number[]): void {
  const [newest, oldest] = [numbers.at(0), numbers.at(-1)];
  if (request.state === undefined) return;
  const pages = lastPages.get(table.document) ?? new Map<string, { oldest: number; isScattered: boolean }>();
  lastPages.set(table.document, pages);
  const name = nameOf(list, request);
  pages.delete(name);
  if (newest === undefined || oldest === undefined) return;
  pages.set(name, { oldest, isScattered: newest - oldest >= (request.offset + request.limit) * rowsPerWanted });
  const [first] = pages.keys();
  if (pages.size > maxPages && first !== undefined) pages.delete(first);
}

import { afterAllNumbers, isFirstPage, type PageRequest } from 'computation-management-counted-list';
import { listKeys } from './keys.ts';
import { numberOfRow, openList, readRows, type RowList, stateOfRow, SharedReads } from './row-lists.ts';
import { type Table, type Item, queryBetween, queryPrefix } from './table.ts';

/** A page of a list: its rows, and how many rows match in total. */
export interface Page {
  /** The rows on the page, the newest first. */
  rows: Item[];
  /** The number of rows of the list that match the request, on all pages. */
  total: number;
}

/**
 * Reads a page of a list, the newest member first, with every change that was acknowledged before. Leaves out a row that is
 * deleted during the read or no longer matches. Takes at most four round trips for 15 million members.
 * @param request.limit 1 to 100
 */
export async function readPage(table: Table, list: RowList, request: PageRequest): Promise<Page> {
  const isReadAhead = list.name === list.rows.pk && isFirstPage(request);
  const [{ numbers, total }, ahead] = await Promise.all([
    openList(table, list).page(request),
    isReadAhead ? rowsAhead.share(table, nameOf(list, request), () => readRowsAhead(table, list, request)) : noRows,
  ]);
  if (isReadAhead) rememberPage(table, list, request, numbers);
  const isMatch = (row: Item) => matches(list, request, row);
  // A row that came into the state after it was read ahead is read again.
  const rows = new Map(ahead.filter(isMatch).map((row) => [numberOfRow(row), row]));
  for (const row of await readRows(
    table,
    list,
    numbers.filter((number) => !rows.has(number)),
  )) {
    if (isMatch(row)) rows.set(numberOfRow(row), row);
  }
  return { rows: numbers.map((number) => rows.get(number)).filter((row) => row !== undefined), total };
}

const noRows: readonly Item[] = [];

function matches(list: RowList, { state }: PageRequest, row: Item): boolean {
  const isInState = state === undefined || stateOfRow(list, row) === list.states[state];
  return isInState && (list.owner === undefined || row['owner'] === list.owner);
}

/** The number of rows that are read before the list is known, for each row of the page, if the list is filtered by state. */
const rowsPerWanted = 4;
const maxRows = 100;

/**
 * The places where the rows of first pages by state were at the last read, by the client of the table. A place is a guess of
 * which rows to read together with the list, which alone decides what is on the page.
 */
const lastPages = new WeakMap<object, Map<string, { oldest: number; isScattered: boolean }>>();
const maxPages = 1_000;

const nameOf = ({ name }: RowList, { state = '', offset, limit }: PageRequest) => [name, state, offset, limit].join(' ');

const rowsAhead = new SharedReads<readonly Item[]>();

async function readRowsAhead(table: Table, list: RowList, request: PageRequest): Promise<Item[]> {
  const { limit, offset, state } = request;
  const newest = (rows: number) => queryPrefix(table, list.rows.pk, listKeys.prefixes.row, { limit: rows, newestFirst: true });
  if (state === undefined) return newest(offset + limit);
  const rows = Math.min(maxRows, (offset + limit) * rowsPerWanted);
  const last = lastPages.get(table.document)?.get(nameOf(list, request));
  if (!last) return newest(rows);
  if (last.isScattered) return [];
  return queryBetween(table, listKeys.row(list.rows, last.oldest), listKeys.row(list.rows, afterAllNumbers), { limit: rows });
}

/**
 * Remembers at which numbers the rows of a page of a list were, for the next read of the same page.
 * @param numbers the rows' numbers, the newest first
 */
function rememberPage(table: Table, list: RowList, request: PageRequest, numbers: readonly number[]): void {
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

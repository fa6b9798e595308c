import { listKeys } from '../table/keys.ts';
import { SharedReads } from '../table/shared-reads.ts';
import { queryBetween, queryPrefix, type Item, type Table } from '../table/table.ts';
import type { IndexedList } from './indexed-list.ts';
import { afterAllNumbers } from './node.ts';
import type { PageRequest } from './read-page.ts';

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
export function readRowsAhead(table: Table, list: IndexedList, request: PageRequest): Promise<readonly Item[]> {
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
export function rememberPage(table: Table, list: IndexedList, request: PageRequest, numbers: readonly number[]): void {
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

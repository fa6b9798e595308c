import { listKeys, numbersPerLeaf, type List } from './keys.ts';
import { leafAttribute, leafCounts, midAttribute, numbersIn, slicesAt } from './list-index.ts';
import { getItems, increment, queryBetween, queryPrefix, type Item, type Table } from './table.ts';
import { type Action } from './transaction.ts';

/** Assigns the number of the list's next member. Numbers are never reused. One round trip, one write unit. */
export function nextNumber(table: Table, list: List): Promise<number> {
  return increment(table, listKeys.counter(list));
}

/**
 * Returns the actions that add a member to the list, for the transaction that puts its row. The caller's condition on the row
 * prevents that it is added twice. One transaction cannot change two members that share a leaf.
 */
export function addToList(list: List, number: number, facet = 'all'): Action[] {
  return [leafUpdate(list, number, { add: facet }), midUpdate(list, number, [[facet, 1]])];
}

/** Returns the actions that change a member's facet, for the transaction that changes its row. */
export function moveInList(list: List, number: number, fromFacet: string, toFacet: string): Action[] {
  if (fromFacet === toFacet) return [];
  const counts: FacetChange[] = [
    [fromFacet, -1],
    [toFacet, 1],
  ];
  return [leafUpdate(list, number, { remove: fromFacet, add: toFacet }), midUpdate(list, number, counts)];
}

/** Returns the actions that remove a member, for the transaction that deletes its row on the condition that it has this facet. */
export function removeFromList(list: List, number: number, facet = 'all'): Action[] {
  return [leafUpdate(list, number, { remove: facet }), midUpdate(list, number, [[facet, -1]])];
}

function leafUpdate(list: List, number: number, change: { add?: string; remove?: string }): Action {
  const clauses: string[] = [];
  const names: Record<string, string> = {};
  if (change.remove !== undefined) {
    clauses.push('DELETE #remove :offset');
    names['#remove'] = leafAttribute(list, change.remove);
  }
  if (change.add !== undefined) {
    clauses.push('ADD #add :offset');
    names['#add'] = leafAttribute(list, change.add);
  }
  return {
    update: {
      Key: listKeys.leaf(list, number),
      UpdateExpression: clauses.join(' '),
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: { ':offset': new Set([number % numbersPerLeaf]) },
    },
  };
}

type FacetChange = [facet: string, change: number];

function midUpdate(list: List, number: number, changes: FacetChange[]): Action {
  return {
    update: {
      Key: listKeys.mid(list, number),
      UpdateExpression: `ADD ${changes.map((_, index) => `#count${index} :change${index}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(
        changes.map(([facet], index) => [`#count${index}`, midAttribute(list, facet, number)]),
      ),
      ExpressionAttributeValues: Object.fromEntries(changes.map(([, change], index) => [`:change${index}`, change])),
    },
  };
}

/** `limit` is 1 to 100, `offset` is 0 or more. With `facet`, only members with that facet are listed. */
export interface PageRequest {
  limit: number;
  offset: number;
  facet?: string | undefined;
}

export interface Page {
  rows: Item[];
  /** The number of all members with the facet, on this and all other pages. */
  total: number;
}

/** Pages within this many members are read directly from the newest rows. */
const firstMembers = 50;
/** With a filter, reads this many times the rows of the page before using the index. */
const readAheadForFacet = 3;
const maxRowsAhead = 100;
/**
 * Up to this many numbers for each wanted row, one query over the whole span is cheaper than reading the rows one by one, which
 * costs a read unit or more for each row.
 */
const maxSpanPerRow = 4;

/**
 * Reads a page of the list, newest member first, and the exact total, strongly consistent. The first pages take one round trip.
 * Other pages take three: the counts, the leaves of the page, its rows. The counts cost about 3 read units per 100,000 numbers
 * assigned, for any offset. A row that is deleted while the page is read is left out.
 */
export async function readPage(table: Table, list: List, request: PageRequest): Promise<Page> {
  const { limit, offset, facet } = request;
  const end = offset + limit;
  const isFirst = offset === 0 || end <= firstMembers;
  const rowsAhead = facet === undefined ? end : Math.min(maxRowsAhead, end * readAheadForFacet);
  const [mids, newest] = await Promise.all([
    queryPrefix(table, list.pk, listKeys.prefixes.mid),
    isFirst ? queryPrefix(table, list.pk, listKeys.prefixes.row, { limit: rowsAhead, newestFirst: true }) : undefined,
  ]);
  const counts = leafCounts(list, mids, facet);
  const total = counts.reduce((sum, leaf) => sum + leaf.count, 0);
  if (newest) {
    const matching = newest.filter((row) => hasFacet(list, row, facet));
    const rows = matching.slice(offset, end);
    if (newest.length < rowsAhead) return { rows, total: matching.length };
    if (matching.length >= Math.min(end, total)) return { rows, total };
  }
  const slices = slicesAt(counts, offset, limit);
  const leaves = await getItems(
    table,
    slices.map(({ firstNumber }) => listKeys.leaf(list, firstNumber)),
  );
  const numbers = slices.flatMap((slice, index) => numbersIn(list, leaves[index], slice, facet));
  const rows = await readRows(table, list, numbers, facet);
  return { rows: rows.filter((row) => hasFacet(list, row, facet)), total };
}

async function readRows(table: Table, list: List, numbers: number[], facet: string | undefined): Promise<Item[]> {
  const [newest, oldest] = [numbers.at(0), numbers.at(-1)];
  if (newest === undefined || oldest === undefined) return [];
  const keys = numbers.map((number) => listKeys.row(list, number));
  const spanIsNarrow = newest - oldest < numbers.length * maxSpanPerRow;
  if (facet !== undefined && !spanIsNarrow) return (await getItems(table, keys)).filter((row) => row !== undefined);
  const wanted = new Set<unknown>(keys.map((key) => key.sk));
  const rows = await queryBetween(table, listKeys.row(list, oldest), listKeys.row(list, newest), { newestFirst: true });
  return rows.filter((row) => wanted.has(row['sk']));
}

function hasFacet(list: List, row: Item, facet: string | undefined): boolean {
  return facet === undefined || list.facetAttribute === undefined || row[list.facetAttribute] === facet;
}

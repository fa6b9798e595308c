import type { Arguments, Client, Data, Operation, OptionalIfEmpty } from './create-client.ts';

interface Counted {
  limit: number;
  offset: number;
  total: number;
}

export type ListOperation = { [O in Operation]: Data<O> extends Counted ? O : never }[Operation];

export type Item<O extends ListOperation> = Data<O>[Exclude<keyof Data<O>, keyof Counted>] extends readonly (infer Each)[]
  ? Each
  : never;

/**
 * A page of a list of the service: entries from `offset` on, at most `limit`. `total` is the exact number of entries of the whole
 * list.
 */
export interface Page<Each> extends Counted {
  items: Each[];
}

type ListArguments<O extends ListOperation> = OptionalIfEmpty<Arguments<O>>;

const largestPage = 100;
const mostSeen = 10_000;

/**
 * Reads one page of a list of the service: at most `limit` entries (1 to 100; the default of the service is 10).
 * @throws ServiceProblem
 */
export async function page<O extends ListOperation>(
  client: Client,
  operation: O,
  ...given: ListArguments<O>
): Promise<Page<Item<O>>> {
  const { data } = await client.call(operation, ...given);
  const { limit, offset, total, ...rest } = data as Counted & Record<string, Item<O>[]>;
  return { items: Object.values(rest).flat(), limit, offset, total };
}

/**
 * Reads all pages of a list of the service from `offset` on, each with up to `limit` entries (1 to 100; default 100). Yields each
 * entry that stays in the list exactly once, unless 10,000 entries come or go between two pages.
 * @throws ServiceProblem
 */
export async function* pages<O extends ListOperation>(
  client: Client,
  operation: O,
  ...given: ListArguments<O>
): AsyncGenerator<Page<Item<O>>, void, undefined> {
  const { limit = largestPage, offset: first = 0 } = (given[0] ?? {}) as { limit?: number; offset?: number };
  const seen = new Set<string>();
  let offset = first;
  for (;;) {
    // A page begins with an entry that was seen. If it does not, entries went, and others moved to the pages before.
    const overlap = offset > first ? 1 : 0;
    const at = { ...given[0], offset: offset - overlap, limit: Math.min(limit + overlap, largestPage) };
    const next = await page(client, operation, ...([at] as ListArguments<O>));
    const [head] = next.items;
    if (overlap > 0 && (head === undefined ? next.total > 0 : !seen.has(idOf(head)))) {
      offset = Math.max(first, Math.min(offset, next.total) - limit);
      continue;
    }
    const items = next.items.filter((item) => !seen.has(idOf(item)));
    for (const item of items) seen.add(idOf(item));
    for (const id of seen) {
      if (seen.size <= mostSeen) break;
      seen.delete(id); // the oldest
    }
    if (items.length > 0 || offset === first) yield { items, limit, offset, total: next.total };
    offset += next.items.length - overlap;
    if (offset >= next.total || next.items.length <= overlap) return;
  }
}

export async function* items<O extends ListOperation>(
  client: Client,
  operation: O,
  ...given: ListArguments<O>
): AsyncGenerator<Item<O>, void, undefined> {
  for await (const next of pages(client, operation, ...given)) yield* next.items;
}

function idOf(item: unknown): string {
  return (item as { id: string }).id;
}

/** The lists that are sorted by identifier, newest first. */
type SortedList = 'listAssets' | 'listComputations';

/**
 * Finds entries of a list by their identifiers. Halves the list again and again, so about ten pages are read among 100,000 rows.
 * @throws ServiceProblem
 */
export async function findRows<O extends SortedList>(
  client: Client,
  operation: O,
  ids: readonly string[],
  { signal, ...filter }: { signal?: AbortSignal | undefined; asset_type?: 'result' } = {},
): Promise<Map<string, Item<O>>> {
  const found = new Map<string, Item<O>>();
  const known = new Map<number, Promise<Page<Item<O>>>>();
  const read = (at: number) => {
    const given = [{ ...filter, offset: at * largestPage, limit: largestPage, signal }] as unknown as ListArguments<O>;
    const loading = known.get(at) ?? page(client, operation, ...given);
    known.set(at, loading);
    return loading;
  };
  for (const id of ids) {
    const row = await search(id, read);
    if (row) found.set(id, row);
  }
  return found;
}

async function search<Row>(id: string, read: (at: number) => Promise<Page<Row>>): Promise<Row | undefined> {
  let [from, to, at] = [0, Infinity, 0]; // the newest page first, since most rows that are asked for are new
  while (from < to) {
    const { items, total } = await read(at);
    const ids = items.map(idOf);
    const [first = id, last = id] = [ids[0], ids.at(-1)];
    if (id > first) to = at;
    else if (id < last) from = at + 1;
    else return items[ids.indexOf(id)];
    to = Math.min(to, Math.ceil(total / largestPage));
    at = Math.floor((from + to) / 2);
  }
  return undefined;
}

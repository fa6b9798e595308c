import type { Client } from './create-client.ts';
import type { Arguments, Data, Operation, OptionalIfEmpty } from './operation.ts';

interface Counted {
  limit: number;
  offset: number;
  total: number;
}

/** An operation that returns pages. */
export type ListOperation = { [O in Operation]: Data<O> extends Counted ? O : never }[Operation];

/** What a list lists. */
export type Item<O extends ListOperation> = Data<O>[Exclude<keyof Data<O>, keyof Counted>] extends readonly (infer Each)[]
  ? Each
  : never;

/** A page of a list. `total` is the exact number of entries of the whole list. */
export interface Page<Each> extends Counted {
  items: Each[];
}

type ListArguments<O extends ListOperation> = OptionalIfEmpty<Arguments<O>>;

const largestPage = 100;

/** Returns one page, from `offset`, with at most `limit` entries (1 to 100; the service's default is 10). */
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
 * Returns all pages from `offset` on, of at most `limit` entries (1 to 100; default 100). If entries come or go meanwhile, no entry
 * that stays is left out, and none comes twice.
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
    if (items.length > 0 || offset === first) yield { items, limit, offset, total: next.total };
    offset += next.items.length - overlap;
    if (offset >= next.total || next.items.length <= overlap) return;
  }
}

/** Returns all entries from `offset` on, as `pages` does. */
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

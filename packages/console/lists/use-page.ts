import { type Arguments, type Item, type ListOperation, type Page, page as loadPage } from 'computation-management-client';
import { useCallback, useMemo } from 'react';
import { useDomain } from '../access/console-context.ts';
import { type Loaded, useLoaded } from '../loading/use-loaded.ts';
import { navigate, useAddress } from '../routing/navigation.ts';

export interface LoadedPage<Row> extends PageQuery {
  loaded: Loaded<Page<Row>>;
  change: (changes: Record<string, string | number | undefined>, how?: { replace: boolean }) => void;
}

/** Loads the page that the address names. `filters` are those of the operation. */
export function usePage<O extends ListOperation>(
  operation: O,
  filters: Partial<Arguments<O>>,
  options: { everySeconds?: number | undefined } = {},
): LoadedPage<Item<O>> {
  const { client, domain } = useDomain();
  const { pathname, query } = useAddress();
  const place = useMemo(() => pageOf(query), [query]);
  const { limit, offset } = place;
  const loaded = useLoaded(
    JSON.stringify([domain, operation, limit, offset, filters]),
    (signal) => loadPage(client, operation, ...([{ ...filters, limit, offset, signal }] as unknown as Parameters<O>)),
    options,
  );
  const change = useCallback(
    (changes: Record<string, string | number | undefined>, how?: { replace: boolean }) =>
      navigate(`${pathname}${changedQuery(query, changes)}`, how),
    [pathname, query],
  );
  return { ...place, loaded, change };
}

type Parameters<O extends ListOperation> = typeof loadPage<O> extends (
  client: never,
  operation: never,
  ...given: infer Given
) => unknown
  ? Given
  : never;

/** The sizes of a page that the console offers. The API allows up to 100. */
export const pageSizes = [10, 25, 50, 100] as const;
const usualPageSize = 25;

interface PageQuery {
  /** From 1. */
  page: number;
  limit: number;
  offset: number;
}

/** Reads the page that an address names. What it does not understand becomes the first page, or the usual size. */
export function pageOf(query: URLSearchParams): PageQuery {
  const limit = pageSizes.find((size) => String(size) === query.get('limit')) ?? usualPageSize;
  const text = query.get('page') ?? '1';
  const page = /^[1-9]\d{0,11}$/.test(text) ? Number(text) : 1;
  return { page, limit, offset: (page - 1) * limit };
}

/** Returns the number of pages: at least one. */
export function pageCount(total: number, limit: number): number {
  return Math.max(1, Math.ceil(total / limit));
}

/** Returns the query with other values. Another filter or size begins at the first page. */
export function changedQuery(query: URLSearchParams, changes: Record<string, string | number | undefined>): string {
  const changed = new URLSearchParams(query);
  if (!('page' in changes)) changed.delete('page');
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '' || (name === 'page' && value === 1)) changed.delete(name);
    else changed.set(name, String(value));
  }
  const text = changed.toString();
  return text === '' ? '' : `?${text}`;
}

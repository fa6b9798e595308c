import {
  type Arguments,
  type Item,
  items,
  type ListOperation,
  type OptionalIfEmpty,
  type Page,
  page as loadPage,
} from 'computation-management-client';
import { useMemo } from 'react';
import { useDomain } from '../access/console-context.ts';
import { type Loaded, useLoaded } from '../loading/use-loaded.ts';
import { navigate, useAddress } from '../routing/navigation.ts';
import { changedQuery, type PageQuery, pageOf } from '../routing/places.ts';

export interface LoadedPage<Row> extends PageQuery {
  /** The query of the address, which has the filters of the list. */
  query: URLSearchParams;
  loaded: Loaded<Page<Row>>;
  /** Reads all rows of the list that the filters match, whatever page is shown. */
  all: () => AsyncIterable<Row>;
  change: (changes: Record<string, string | number | undefined>) => void;
}

/** Loads the page of a list that the address names. @param filters the names of the operation's parameters that are filters */
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
    (signal) =>
      loadPage(client, operation, ...([{ ...filters, limit, offset, signal }] as unknown as OptionalIfEmpty<Arguments<O>>)),
    options,
  );
  const change: LoadedPage<Item<O>>['change'] = (changes) => navigate(`${pathname}${changedQuery(query, changes)}`);
  const all = () => items(client, operation, ...([filters] as unknown as OptionalIfEmpty<Arguments<O>>));
  return { ...place, query, loaded, change, all };
}

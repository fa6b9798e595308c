import { journalKeys } from '../table/keys.ts';
import { queryPrefix, type Table } from '../table/table.ts';
import { filtersFacets, type EventFilter } from './event-filter.ts';
import { readHead } from './journal-head.ts';
import { readMatching, type EventPage, type Selection } from './matching-events.ts';
import { gapOrDeleted, withoutGaps } from './read-numbers.ts';
import { parseStoredEvent, publicEvent } from './stored-event.ts';

/** `limit` from 1 to 100, `offset` from 0. */
export interface Paging {
  limit: number;
  offset: number;
}

/**
 * Reads a page of the events that match, newest first. Page and total show the same moment, the strongly consistent read of the
 * journal's head. Events appended later are not included.
 *
 * Sequential round trips: 1 for the newest events, 2 for any other page without a filter, 3 with a filter (2 if all events of
 * the page are newer than the index segments). Retries if an append is only partly visible.
 * @throws ServiceError `not_found` if the journal was deleted in the meantime
 * @throws Error if the journal is damaged
 */
export async function readEvents(table: Table, computationId: string, filter: EventFilter, paging: Paging): Promise<EventPage> {
  return await withoutGaps(table, async () => {
    const isTimed = filter.from !== undefined || filter.to !== undefined;
    if (!isTimed && !filtersFacets(filter) && paging.offset === 0) return newestEvents(table, computationId, paging.limit);
    const head = await readHead(table, computationId);
    const { events, total } = await readMatching(table, computationId, head, filter, newestFirst(paging));
    return { events: events.reverse(), total };
  });
}

const newestFirst =
  ({ limit, offset }: Paging): Selection =>
  (total) => {
    const end = Math.max(0, total - offset);
    return { start: Math.max(0, end - limit), end };
  };

/** One query also returns the total: it is the newest event's number, because numbers have no gaps. */
async function newestEvents(table: Table, computationId: string, limit: number): Promise<EventPage> {
  const partition = journalKeys.partition(computationId);
  const items = await queryPrefix(table, partition, journalKeys.prefixes.event, { limit, newestFirst: true });
  const events = items.map(parseStoredEvent);
  const total = events[0]?.number ?? 0;
  const isWhole = events.length === Math.min(limit, total) && events.every((event, index) => event.number === total - index);
  return isWhole ? { events: events.map(publicEvent), total } : gapOrDeleted(table, computationId);
}

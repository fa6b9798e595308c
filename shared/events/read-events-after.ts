import { notFound } from '../errors.ts';
import { journalKeys } from '../table/keys.ts';
import { getItemEventually, type Table } from '../table/table.ts';
import { filtersFacets, matches, type EventFilter } from './event-filter.ts';
import { parseHead, readHead, type JournalHead } from './journal-head.ts';
import { readMatching, type EventPage, type Selection } from './matching-events.ts';
import { gapOrDeleted, readNumberRange, withoutGaps } from './read-numbers.ts';
import { publicEvent } from './stored-event.ts';

/** The first `limit` events, from 1 to 100, with numbers greater than `after`. */
export interface Continuation {
  limit: number;
  after: number;
}

/** A page of a journal that had `count` events when it was read. */
export interface EventsAfter extends EventPage {
  count: number;
}

/**
 * Reads the first events that match after an event, oldest first, and the total of all that match. Page and total show the moment
 * of `head`. If an append is only partly visible, reads the head again.
 *
 * Sequential round trips, without that of the head: 1, with a filter 2. Throws as readEvents does.
 */
export async function readEventsAfter(
  table: Table,
  computationId: string,
  filter: EventFilter,
  { limit, after }: Continuation,
  head: JournalHead,
): Promise<EventsAfter> {
  return await withoutGaps(table, async (attempt) => {
    const current = attempt === 1 ? head : await readHead(table, computationId);
    if (current.count < after) await gapOrDeleted(table, computationId);
    const page = await readMatching(table, computationId, current, filter, following({ limit, after }));
    return { ...page, count: current.count };
  });
}

const following =
  ({ limit, after }: Continuation): Selection =>
  (total, upTo) => {
    const start = upTo(after);
    return { start, end: Math.min(total, start + limit) };
  };

/** More new events than these are read by the index segments, so that a poll never reads far more than it returns. */
const mostReadDirectly = 100;

/**
 * Continues an empty page: returns it as it is if nothing was recorded since, else what readEventsAfter would return now. Costs half a
 * read unit if nothing was recorded. It reads the head eventually consistent: an event may be seen a moment late, but none is skipped.
 * With a filter, only the new events are matched.
 * @throws ServiceError `not_found` if the journal was deleted in the meantime
 */
export async function readNewEvents(
  table: Table,
  computationId: string,
  filter: EventFilter,
  limit: number,
  before: EventsAfter,
): Promise<EventsAfter> {
  const item = await getItemEventually(table, journalKeys.head(computationId));
  if (!item) await assertNotDeleted(table, computationId);
  const { count } = parseHead(item);
  if (count <= before.count) return before;
  const isFiltered = filtersFacets(filter) || filter.from !== undefined || filter.to !== undefined;
  if (isFiltered && count - before.count > mostReadDirectly) {
    const head = await readHead(table, computationId);
    return await readEventsAfter(table, computationId, filter, { limit, after: before.count }, head);
  }
  const news = { from: before.count + 1, to: isFiltered ? count : Math.min(count, before.count + limit) };
  const events = await withoutGaps(table, () => readNumberRange(table, computationId, news));
  if (!isFiltered) return { events: events.map(publicEvent), total: count, count };
  const matching = events.filter((event) => matches(filter, event));
  return { events: matching.slice(0, limit).map(publicEvent), total: before.total + matching.length, count };
}

/** An eventually consistent read can also miss the head of a new journal. */
async function assertNotDeleted(table: Table, computationId: string): Promise<void> {
  const { count } = await readHead(table, computationId);
  if (count === 0) throw notFound('computation');
}

import { numberOf } from 'computation-management-formats/identifiers';
import { notFound } from '../runtime/errors.ts';
import { journalKeys } from '../table/keys.ts';
import { deadlineOf, type Table, getItemEventually, getItems, queryPrefix } from '../table/table.ts';
import { eventsPerAppend, type JournalHead, parseHead, parseStoredEvent, publicEvent, readHead } from '../journal/journal.ts';
import { type EventPage, readMatching, type Selection, type EventFilter, filtersFacets, matches } from './matching-events.ts';
import { gapOrDeleted, JournalGapError, readNumberRange, withoutGaps } from '../journal/read-journal.ts';

/** A page of a list of events: `limit` from 1 to 100, `offset` from 0. */
export interface Paging {
  limit: number;
  offset: number;
}

/**
 * Reads a page of the events of a computation that match a filter, newest first. Page and total show the same moment. Retries if
 * an append is only partly visible. Sequential round trips: 1 for the newest events, 2 for other pages, 3 for filtered pages of
 * events that are in the index already.
 * @throws ServiceError `not_found` if the journal was deleted in the meantime
 * @throws Error if the journal is damaged
 */
export async function readEvents(table: Table, computationId: string, filter: EventFilter, paging: Paging): Promise<EventPage> {
  return await withoutGaps(table, async () => {
    const isTimed = filter.from !== undefined || filter.to !== undefined;
    if (!isTimed && !filtersFacets(filter) && paging.offset === 0) return newestEvents(table, computationId, paging.limit);
    const head = await readHead(table, computationId);
    const { events, total } = await readMatching({ table, computationId, head }, filter, newestFirst(paging));
    return { events: events.reverse(), total };
  });
}

const newestFirst =
  ({ limit, offset }: Paging): Selection =>
  (total) => {
    const end = Math.max(0, total - offset);
    return { start: Math.max(0, end - limit), end };
  };

/** Reads the newest events of a computation. The total is the number of the newest event. */
async function newestEvents(table: Table, computationId: string, limit: number): Promise<EventPage> {
  const partition = journalKeys.partition(computationId);
  const items = await queryPrefix(table, partition, journalKeys.prefixes.event, { limit, newestFirst: true });
  const events = items.map(parseStoredEvent);
  const total = events[0]?.number ?? 0;
  const isWhole = events.length === Math.min(limit, total) && events.every((event, index) => event.number === total - index);
  return isWhole ? { events: events.map(publicEvent), total } : gapOrDeleted(table, computationId);
}

/** A request for the first `limit` events, 1 to 100, after the event with the number `after`. */
export interface Continuation {
  limit: number;
  after: number;
}

/** Events that follow a given event. `count` is the number of events that the journal had when it was read. */
export interface EventsAfter extends EventPage {
  count: number;
}

/**
 * Reads the events after a number that match a filter, oldest first, with the total of all that match. Ignores events that were
 * recorded after `head` was read. Reads `head` again if an append is only partly visible. Sequential round trips: 1, with a
 * filter 2.
 * @throws the errors of readEvents
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
    const page = await readMatching({ table, computationId, head: current }, filter, following({ limit, after }));
    return { ...page, count: current.count };
  });
}

const following =
  ({ limit, after }: Continuation): Selection =>
  (total, upTo) => {
    const start = upTo(after);
    return { start, end: Math.min(total, start + limit) };
  };

/**
 * The largest number of new events of a computation that are read one by one to filter them. More are found by the segments of
 * the index.
 */
const mostReadDirectly = 100;

/**
 * Reads the events of a computation that were recorded since an earlier read. Costs half a read unit if there are none. The
 * number of events is read eventually consistent: events may be seen a moment late, but none is skipped.
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

/**
 * Throws if the journal of a computation was deleted. Reads its head, strongly consistent, because an eventually consistent read
 * can also miss the head of a new journal.
 * @throws ServiceError `not_found`
 */
async function assertNotDeleted(table: Table, computationId: string): Promise<void> {
  const { count } = await readHead(table, computationId);
  if (count === 0) throw notFound('computation');
}

/** The place of an event in the journal of its computation. */
export interface JournalPosition {
  number: number;
  /**
   * The head of the journal of events, the item with the number of its events. It is read together with the event, strongly
   * consistent.
   */
  head: JournalHead;
}

/**
 * Finds the place of an event in a journal.
 * @param eventId '' is the position before the first event
 * @returns undefined if it is no event of this journal
 */
export async function findPosition(table: Table, computationId: string, eventId: string): Promise<JournalPosition | undefined> {
  if (eventId === '') return { number: 0, head: await readHead(table, computationId) };
  const number = numberOf(eventId);
  if (number === undefined) return undefined;
  const position = await findNumbered(table, computationId, eventId, number);
  if (position !== 'maybe partly visible') return position;
  await deadlineOf(table).pause(1, new JournalGapError(`Event ${number} of computation ${computationId} is missing.`));
  const second = await findNumbered(table, computationId, eventId, number);
  return second === 'maybe partly visible' ? undefined : second;
}

/**
 * Looks for an event of a computation under a number. Returns `maybe partly visible` if the event is missing, but may belong to
 * an append that is only partly visible yet.
 */
async function findNumbered(table: Table, computationId: string, eventId: string, number: number) {
  const [headItem, item] = await getItems(table, [journalKeys.head(computationId), journalKeys.event(computationId, number)]);
  const head = parseHead(headItem);
  if (item) return parseStoredEvent(item).id === eventId ? { number, head } : undefined;
  const isNew = number > 0 && number <= head.count + eventsPerAppend;
  return isNew && head.count > 0 ? 'maybe partly visible' : undefined;
}

import { journalKeys } from '../table/keys.ts';
import { deadlineOf, queryPrefix, type Table } from '../table/table.ts';
import { filtersFacets, matches, matchingNumbers, type EventFilter } from './event-filter.ts';
import type { Event } from './event.ts';
import { readHead, type JournalHead } from './journal-head.ts';
import { gapOrDeleted, JournalGapError, readNumberRange, readNumbers, type NumberRange } from './read-numbers.ts';
import { readSegments } from './read-segments.ts';
import { parseStoredEvent, publicEvent, type StoredEvent } from './stored-event.ts';
import { numbersBetween } from './time-range.ts';

export interface EventPage {
  events: Event[];
  /** The exact number of events that match the filter. */
  total: number;
}

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
  const deadline = deadlineOf(table);
  for (let attempt = 1; ; attempt++) {
    try {
      return await readOnce(table, computationId, filter, paging);
    } catch (error) {
      if (!(error instanceof JournalGapError)) throw error;
      if (attempt === maxAttempts) throw new Error(error.message, { cause: error });
      await deadline.pause(attempt, error);
    }
  }
}

/** Attempts while an append is only partly visible. Their pauses take far longer in total than a transaction. */
const maxAttempts = 8;

async function readOnce(table: Table, computationId: string, filter: EventFilter, paging: Paging): Promise<EventPage> {
  const { from, to } = filter;
  const isTimed = from !== undefined || to !== undefined;
  if (!isTimed && !filtersFacets(filter) && paging.offset === 0) return newestEvents(table, computationId, paging.limit);
  if (from !== undefined && to !== undefined && from > to) return { events: [], total: 0 };

  const head = await readHead(table, computationId);
  const bounds = { from, to: to !== undefined && to < head.last_at ? to : undefined };
  return filtersFacets(filter)
    ? matchingEvents(table, computationId, head, { ...filter, ...bounds }, paging)
    : eventsBetween(table, computationId, head, bounds, paging);
}

/** One query also returns the total: it is the newest event's number, because numbers have no gaps. */
async function newestEvents(table: Table, computationId: string, limit: number): Promise<EventPage> {
  const partition = journalKeys.partition(computationId);
  const items = await queryPrefix(table, partition, journalKeys.prefixes.event, { limit, newestFirst: true });
  const events = items.map(parseStoredEvent);
  const total = events[0]?.number ?? 0;
  const isWhole = events.length === Math.min(limit, total) && events.every((event, index) => event.number === total - index);
  return isWhole ? { events: events.map(publicEvent), total } : gapOrDeleted(table, computationId);
}

async function eventsBetween(
  table: Table,
  computationId: string,
  head: JournalHead,
  bounds: Pick<EventFilter, 'from' | 'to'>,
  { limit, offset }: Paging,
): Promise<EventPage> {
  const tail: { reading?: Promise<StoredEvent[]> } = {};
  const readTailOnce = () => (tail.reading ??= readTail(table, computationId, head));
  const range = await numbersBetween(table, computationId, head, bounds, readTailOnce);
  const newest = range.to - offset;
  const page = { from: Math.max(range.from, newest - limit + 1), to: newest };
  const isRead = tail.reading !== undefined && page.from > head.sealed;
  const events = isRead ? within(await readTailOnce(), page) : await readNumberRange(table, computationId, page);
  return { events: events.reverse().map(publicEvent), total: Math.max(0, range.to - range.from + 1) };
}

async function matchingEvents(
  table: Table,
  computationId: string,
  head: JournalHead,
  filter: EventFilter,
  { limit, offset }: Paging,
): Promise<EventPage> {
  const endsBeforeTail = filter.to !== undefined && filter.to < head.sealed_at;
  const [segments, tail] = await Promise.all([
    readSegments(table, computationId, head, filter),
    endsBeforeTail ? [] : readTail(table, computationId, head),
  ]);
  const inSegments = segments.flatMap((segment) => matchingNumbers(filter, segment));
  const inTail = tail.filter((event) => matches(filter, event));

  const total = inSegments.length + inTail.length;
  const end = Math.max(0, total - offset);
  const start = Math.max(0, end - limit);
  const events = [
    ...(await readNumbers(table, computationId, inSegments.slice(start, end))),
    ...inTail.slice(Math.max(0, start - inSegments.length), Math.max(0, end - inSegments.length)),
  ];
  return { events: events.reverse().map(publicEvent), total };
}

/** Reads the events that no index segment covers yet: at most 256 events or 128 KiB, plus one append. */
function readTail(table: Table, computationId: string, head: JournalHead): Promise<StoredEvent[]> {
  return readNumberRange(table, computationId, { from: head.sealed + 1, to: head.count });
}

const within = (events: StoredEvent[], { from, to }: NumberRange) =>
  events.filter(({ number }) => number >= from && number <= to);

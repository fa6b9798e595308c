import type { Table } from '../table/table.ts';
import { type EventFilter, filtersFacets, matches, matchingNumbers } from './event-filter.ts';
import type { Event } from '../journal/event.ts';
import { type JournalHead, publicEvent, type StoredEvent } from '../journal/stored-journal.ts';
import {
  firstSegmentAfter,
  firstSegmentFrom,
  type NumberRange,
  readNumberRange,
  readNumbers,
  readSegments,
} from '../journal/read-journal.ts';
import { type Segment, timestampsOf } from '../journal/segment.ts';

/** Some of the events that match a filter, and how many match in all. */
export interface EventPage {
  events: Event[];
  total: number;
}

/**
 * Selects a part of the `total` events that match a filter, counted from the oldest: the places from `start` up to, but without,
 * `end`.
 * @param upTo returns how many of the matching events have a number up to the given one
 */
export type Selection = (total: number, upTo: (number: number) => number) => { start: number; end: number };

/**
 * Reads the selected events that match a filter, oldest first, with the total of all that match. Ignores events that were
 * recorded after `head` was read.
 * @throws the errors of readEvents, and JournalGapError if an event is missing
 */
export async function readMatching(
  table: Table,
  computationId: string,
  head: JournalHead,
  filter: EventFilter,
  select: Selection,
): Promise<EventPage> {
  const { from, to } = filter;
  if (from !== undefined && to !== undefined && from > to) return { events: [], total: 0 };
  const bounds = { from, to: to !== undefined && to < head.last_at ? to : undefined };
  return filtersFacets(filter)
    ? matchingEvents(table, computationId, head, { ...filter, ...bounds }, select)
    : eventsBetween(table, computationId, head, bounds, select);
}

/** Reads the selected events of a range of time. Timestamps never decrease, so the events have consecutive numbers. */
async function eventsBetween(
  table: Table,
  computationId: string,
  head: JournalHead,
  bounds: Pick<EventFilter, 'from' | 'to'>,
  select: Selection,
): Promise<EventPage> {
  const tail: { reading?: Promise<StoredEvent[]> } = {};
  const readTailOnce = () => (tail.reading ??= readTail(table, computationId, head));
  const range = await numbersBetween(table, computationId, head, bounds, readTailOnce);
  const total = Math.max(0, range.to - range.from + 1);
  const { start, end } = select(total, (number) => Math.min(total, Math.max(0, number - range.from + 1)));
  const page = { from: range.from + start, to: range.from + end - 1 };
  const isRead = tail.reading !== undefined && page.from > head.sealed;
  const events = isRead ? within(await readTailOnce(), page) : await readNumberRange(table, computationId, page);
  return { events: events.map(publicEvent), total };
}

/** Reads the selected events that match a filter with conditions other than the time. */
async function matchingEvents(
  table: Table,
  computationId: string,
  head: JournalHead,
  filter: EventFilter,
  select: Selection,
): Promise<EventPage> {
  const endsBeforeTail = filter.to !== undefined && filter.to < head.sealed_at;
  const [segments, tail] = await Promise.all([
    readSegments(table, computationId, head, filter),
    endsBeforeTail ? [] : readTail(table, computationId, head),
  ]);
  const inSegments = segments.flatMap((segment) => matchingNumbers(filter, segment));
  const inTail = tail.filter((event) => matches(filter, event));

  const total = inSegments.length + inTail.length;
  const upTo = (last: number) =>
    inSegments.filter((number) => number <= last).length + inTail.filter(({ number }) => number <= last).length;
  const { start, end } = select(total, upTo);
  const events = [
    ...(await readNumbers(table, computationId, inSegments.slice(start, end))),
    ...inTail.slice(Math.max(0, start - inSegments.length), Math.max(0, end - inSegments.length)),
  ];
  return { events: events.map(publicEvent), total };
}

/**
 * Reads the newest events of a computation, which are not in the index of the journal yet: at most 256 events or 128 KiB, plus
 * one append.
 */
function readTail(table: Table, computationId: string, head: JournalHead): Promise<StoredEvent[]> {
  return readNumberRange(table, computationId, { from: head.sealed + 1, to: head.count });
}

const within = (events: StoredEvent[], { from, to }: NumberRange) =>
  events.filter(({ number }) => number >= from && number <= to);

/**
 * Finds the numbers of the first and the last event in a range of time. Reads for each of the two one segment of the index, or
 * the newest events, because timestamps never decrease.
 */
async function numbersBetween(
  table: Table,
  computationId: string,
  head: JournalHead,
  { from, to }: Pick<EventFilter, 'from' | 'to'>,
  readTail: () => Promise<StoredEvent[]>,
): Promise<NumberRange> {
  const [first, last] = await Promise.all([
    from === undefined ? 1 : firstNumberFrom(table, computationId, head, from, readTail),
    to === undefined ? head.count : lastNumberTo(table, computationId, head, to, readTail),
  ]);
  return { from: first, to: last };
}

/** Finds the number of the first event at or after a time. */
async function firstNumberFrom(
  table: Table,
  computationId: string,
  head: JournalHead,
  from: string,
  readTail: () => Promise<StoredEvent[]>,
): Promise<number> {
  if (from > head.sealed_at) {
    const tail = await readTail();
    return tail.find((event) => event.timestamp >= from)?.number ?? head.count + 1;
  }
  const segment = await firstSegmentFrom(table, computationId, head, from);
  return firstNumberWhere(segment, (time) => time >= Date.parse(from));
}

/** Finds the number of the last event at or before a time. */
async function lastNumberTo(
  table: Table,
  computationId: string,
  head: JournalHead,
  to: string,
  readTail: () => Promise<StoredEvent[]>,
): Promise<number> {
  if (to >= head.sealed_at) {
    const tail = await readTail();
    return tail.findLast((event) => event.timestamp <= to)?.number ?? head.sealed;
  }
  const segment = await firstSegmentAfter(table, computationId, head, to);
  return firstNumberWhere(segment, (time) => time > Date.parse(to)) - 1;
}

/**
 * Returns the number of the first event in a segment of the index whose time meets a condition.
 * @throws Error if there is none: the segment is damaged
 */
function firstNumberWhere(segment: Segment, holds: (time: number) => boolean): number {
  const place = timestampsOf(segment).findIndex(holds);
  if (place < 0) throw new Error("A stored index segment's timestamps end before its key says.");
  return segment.first_number + place;
}

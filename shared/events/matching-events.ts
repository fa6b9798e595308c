import { type EventFilter, filtersFacets, matches, matchingNumbers } from './event-filter.ts';
import { type Event, publicEvent, type StoredEvent } from '../journal/journal.ts';
import {
  firstSegmentAfter,
  firstSegmentFrom,
  type Journal,
  type NumberRange,
  readNumberRange,
  readNumbers,
  readSegments,
  readTail,
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
 * recorded after the head of the journal was read.
 * @throws the errors of readEvents, and JournalGapError if an event is missing
 */
export async function readMatching(journal: Journal, filter: EventFilter, select: Selection): Promise<EventPage> {
  const { from, to } = filter;
  if (from !== undefined && to !== undefined && from > to) return { events: [], total: 0 };
  const bounds = { from, to: to !== undefined && to < journal.head.last_at ? to : undefined };
  return filtersFacets(filter)
    ? matchingEvents(journal, { ...filter, ...bounds }, select)
    : eventsBetween(journal, bounds, select);
}

type Bounds = Pick<EventFilter, 'from' | 'to'>;
type ReadTail = () => Promise<StoredEvent[]>;

/** Reads the selected events of a range of time. Timestamps never decrease, so the events have consecutive numbers. */
async function eventsBetween(journal: Journal, bounds: Bounds, select: Selection): Promise<EventPage> {
  const { table, computationId, head } = journal;
  const tail: { reading?: Promise<StoredEvent[]> } = {};
  const readTailOnce = () => (tail.reading ??= readTail(journal));
  const range = await numbersBetween(journal, bounds, readTailOnce);
  const total = Math.max(0, range.to - range.from + 1);
  const { start, end } = select(total, (number) => Math.min(total, Math.max(0, number - range.from + 1)));
  const page = { from: range.from + start, to: range.from + end - 1 };
  const isRead = tail.reading !== undefined && page.from > head.sealed;
  const events = isRead ? within(await readTailOnce(), page) : await readNumberRange(table, computationId, page);
  return { events: events.map(publicEvent), total };
}

/** Reads the selected events that match a filter with conditions other than the time. */
async function matchingEvents(journal: Journal, filter: EventFilter, select: Selection): Promise<EventPage> {
  const { table, computationId, head } = journal;
  const endsBeforeTail = filter.to !== undefined && filter.to < head.sealed_at;
  const [segments, tail] = await Promise.all([readSegments(journal, filter), endsBeforeTail ? [] : readTail(journal)]);
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

const within = (events: StoredEvent[], { from, to }: NumberRange) =>
  events.filter(({ number }) => number >= from && number <= to);

/**
 * Finds the numbers of the first and the last event in a range of time. Reads for each of the two one segment of the index, or
 * the newest events, because timestamps never decrease.
 */
async function numbersBetween(journal: Journal, { from, to }: Bounds, readTail: ReadTail): Promise<NumberRange> {
  const [first, last] = await Promise.all([
    from === undefined ? 1 : firstNumberFrom(journal, from, readTail),
    to === undefined ? journal.head.count : lastNumberTo(journal, to, readTail),
  ]);
  return { from: first, to: last };
}

/** Finds the number of the first event at or after a time. */
async function firstNumberFrom(journal: Journal, from: string, readTail: ReadTail): Promise<number> {
  const { head } = journal;
  if (from > head.sealed_at) {
    const tail = await readTail();
    return tail.find((event) => event.timestamp >= from)?.number ?? head.count + 1;
  }
  return firstNumberWhere(await firstSegmentFrom(journal, from), (time) => time >= Date.parse(from));
}

/** Finds the number of the last event at or before a time. */
async function lastNumberTo(journal: Journal, to: string, readTail: ReadTail): Promise<number> {
  const { head } = journal;
  if (to >= head.sealed_at) {
    const tail = await readTail();
    return tail.findLast((event) => event.timestamp <= to)?.number ?? head.sealed;
  }
  return firstNumberWhere(await firstSegmentAfter(journal, to), (time) => time > Date.parse(to)) - 1;
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

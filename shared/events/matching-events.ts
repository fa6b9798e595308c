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
import { type Segment, timestampsOf, type Facet, facetOf, facets } from '../journal/segment.ts';
import { timeOf } from 'computation-management-formats/timestamps';
import { invalid } from '../runtime/errors.ts';

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

/** Filters of events as clients send them. `from` and `to` are RFC 3339 timestamps or Unix seconds. */
export type EventQuery = { [filter in Facet | 'from' | 'to']?: string | undefined };

/** Reads the filters that a client sent. @throws ServiceError `invalid_request` if `from` or `to` is invalid */
export function parseEventQuery({ from, to, ...facets }: EventQuery): EventFilter {
  return {
    ...facets,
    from: from === undefined ? undefined : parseTimeBound(from, 'from'),
    to: to === undefined ? undefined : parseTimeBound(to, 'to'),
  };
}

const unixSeconds = /^(\d{1,12})(?:\.(\d+))?$/;

const year0 = Date.parse('0000-01-01T00:00:00.000Z');
const year9999 = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Reads a bound of time of a filter of events from RFC 3339 or Unix seconds, both with an optional fraction. Rounds fractions
 * finer than a millisecond up for `from`, down for `to`.
 * @throws ServiceError `invalid_request` for any other text
 */
export function parseTimeBound(text: string, bound: 'from' | 'to'): string {
  const time = fromUnixSeconds(text, bound) ?? fromRfc3339(text, bound);
  if (!(time >= year0 && time <= year9999)) {
    throw invalid(`query/${bound}`, 'Expected an RFC 3339 timestamp such as 2025-07-17T08:00:00Z, or Unix seconds.');
  }
  return new Date(time).toISOString();
}

/** Reads RFC 3339. The plus sign of its offset may be a space, as which it arrives if the client did not encode it. */
function fromRfc3339(text: string, bound: 'from' | 'to'): number {
  const [, start = '', fraction = '', offset = ''] = /^(.{19})(?:\.(\d+))?([^.]*)$/.exec(text) ?? [];
  return timeOf(start + offset.replace(' ', '+')) + millisecondsOf(fraction, bound);
}

function fromUnixSeconds(text: string, bound: 'from' | 'to'): number | undefined {
  const match = unixSeconds.exec(text);
  return match ? Number(match[1]) * 1000 + millisecondsOf(match[2] ?? '', bound) : undefined;
}

function millisecondsOf(fraction: string, bound: 'from' | 'to'): number {
  const isFiner = /[1-9]/.test(fraction.slice(3));
  return Number(fraction.slice(0, 3).padEnd(3, '0')) + (bound === 'from' && isFiner ? 1 : 0);
}

/** The conditions that events must meet, all of them. `from` and `to` are inclusive: RFC 3339, UTC, milliseconds. */
export type EventFilter = { [name in Facet | 'from' | 'to']?: string | undefined };

/** Tells whether a filter of events has conditions other than the time. */
export function filtersFacets(filter: EventFilter): boolean {
  return facets.some((facet) => filter[facet] !== undefined);
}

/** Tells whether an event meets all conditions of a filter of events. */
export function matches(filter: EventFilter, event: Pick<Event, Facet | 'timestamp'>): boolean {
  return (
    facets.every((facet) => filter[facet] === undefined || filter[facet] === event[facet]) &&
    (filter.from === undefined || event.timestamp >= filter.from) &&
    (filter.to === undefined || event.timestamp <= filter.to)
  );
}

/**
 * Finds the events that match a filter in a segment of the index, which covers some consecutive events of a journal. Unpacks only
 * columns that can exclude an event.
 * @returns their numbers, ascending
 */
export function matchingNumbers(filter: EventFilter, segment: Segment): number[] {
  const length = segment.last_number - segment.first_number + 1;
  let places = Array.from({ length }, (_, place) => place);
  for (const facet of facets) {
    const wanted = filter[facet];
    if (wanted === undefined) continue;
    const { values, codes } = facetOf(segment, facet);
    const code = values.indexOf(wanted);
    if (code < 0) return [];
    if (values.length > 1) places = places.filter((place) => codes[place] === code);
  }
  const from = filter.from !== undefined && filter.from > segment.first_at ? Date.parse(filter.from) : -Infinity;
  const to = filter.to !== undefined && filter.to < segment.last_at ? Date.parse(filter.to) : Infinity;
  if (from > -Infinity || to < Infinity) {
    const times = timestampsOf(segment);
    places = places.filter((place) => isWithin(times[place], from, to));
  }
  return places.map((place) => segment.first_number + place);
}

const isWithin = (time: number | undefined, from: number, to: number) => time !== undefined && time >= from && time <= to;

import { timeOf } from 'computation-management-formats/timestamps';
import { invalid } from '../runtime/errors.ts';
import type { Event } from '../journal/journal.ts';
import { type Facet, facetOf, facets, type Segment, timestampsOf } from '../journal/segment.ts';

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

import type { Event } from './event.ts';
import { facetOf, facets, timestampsOf, type Facet, type Segment } from './segment.ts';

/** The conditions that listed events must all match. `from` and `to` are inclusive, in the service's timestamp format. */
export type EventFilter = { [name in Facet | 'from' | 'to']?: string | undefined };

export function filtersFacets(filter: EventFilter): boolean {
  return facets.some((facet) => filter[facet] !== undefined);
}

export function matches(filter: EventFilter, event: Pick<Event, Facet | 'timestamp'>): boolean {
  return (
    facets.every((facet) => filter[facet] === undefined || filter[facet] === event[facet]) &&
    (filter.from === undefined || event.timestamp >= filter.from) &&
    (filter.to === undefined || event.timestamp <= filter.to)
  );
}

/** Returns the numbers of the matching events of a segment, ascending. Unpacks only columns that can exclude an event. */
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

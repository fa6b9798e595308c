import * as v from 'valibot';
import { journalKeys, type Key } from '../table/keys.ts';
import type { StoredEvent } from './journal.ts';
import { deflated, inflated, parseStored, storedBytes } from '../table/stored.ts';
import type { Item } from '../table/table.ts';

/** The fields by which the events of a journal can be filtered. Index segments of the journal have a column for each field. */
export const facets = ['event_type', 'status', 'run_id', 'cvm_id', 'originator'] as const;
export type Facet = (typeof facets)[number];

const segmentSchema = v.object({
  first_number: v.number(),
  last_number: v.number(),
  first_at: v.string(),
  last_at: v.string(),
  ...v.entriesFromList(facets, storedBytes),
  timestamp: storedBytes,
});

/** An index segment of a journal: for each facet a compressed column with the values of consecutive events. */
export type Segment = v.InferOutput<typeof segmentSchema>;

/**
 * Schema of a list of integers in an index segment. One function checks the whole list, because a filter reads hundreds of
 * thousands of integers.
 */
const integers = v.custom<number[]>((input) => Array.isArray(input) && input.every((entry) => Number.isSafeInteger(entry)));
const facetColumnSchema = v.object({ values: v.array(v.string()), codes: integers });

/**
 * Makes the index segment of consecutive events, the oldest first. Columns are deflated JSON: a facet's distinct values with an
 * index into them for each event, and the milliseconds between the timestamps.
 * @returns the item, and about how many bytes it takes
 */
export function segmentItem(computationId: string, events: StoredEvent[]): { item: Item & Key; bytes: number } {
  const first = events[0];
  const last = events.at(-1);
  if (!first || !last) throw new TypeError('A segment holds at least one event.');
  const columns = facets.map((facet) => [facet, pack(facetColumn(events, facet))] as const);
  const packed = { ...(Object.fromEntries(columns) as Record<Facet, Uint8Array>), timestamp: pack(timestampColumn(events)) };
  const segment: Segment = {
    first_number: first.number,
    last_number: last.number,
    first_at: first.timestamp,
    last_at: last.timestamp,
    ...packed,
  };
  const bytes = Object.values(packed).reduce((sum, column) => sum + column.byteLength, overheadInBytes);
  return { item: { ...journalKeys.segment(computationId, last.timestamp, last.number), ...segment }, bytes };
}

const overheadInBytes = 250;

export function parseSegment(item: unknown): Segment {
  return parseStored(segmentSchema, item, 'index segment');
}

/**
 * Reads the column of one filter field (facet) in an index segment of a journal.
 * @returns the distinct values and, for each event, the index of its value
 * @throws Error if the column is damaged
 */
export function facetOf(segment: Segment, facet: Facet): { values: string[]; codes: number[] } {
  const column = parseStored(facetColumnSchema, unpack(segment[facet]), 'segment column');
  return { values: column.values, codes: ofSegmentLength(segment, column.codes) };
}

/**
 * Reads the timestamps of the events in an index segment.
 * @returns milliseconds since the Unix epoch, the oldest first
 * @throws Error if the column is damaged
 */
export function timestampsOf(segment: Segment): number[] {
  let at = 0;
  return ofSegmentLength(segment, parseStored(integers, unpack(segment.timestamp), 'segment column')).map((step) => (at += step));
}

function ofSegmentLength(segment: Segment, column: number[]): number[] {
  if (column.length === segment.last_number - segment.first_number + 1) return column;
  throw new Error('A stored segment column does not have an entry for each of its events.');
}

function facetColumn(events: StoredEvent[], facet: Facet): { values: string[]; codes: number[] } {
  const dictionary = new Map<string, number>();
  const codes = events.map((event) => {
    const code = dictionary.get(event[facet]) ?? dictionary.size;
    dictionary.set(event[facet], code);
    return code;
  });
  return { values: [...dictionary.keys()], codes };
}

function timestampColumn(events: StoredEvent[]): number[] {
  const times = events.map((event) => Date.parse(event.timestamp));
  return times.map((time, index) => time - (times[index - 1] ?? 0));
}

const pack = (column: unknown): Uint8Array => deflated(JSON.stringify(column));
const unpack = (column: Uint8Array): unknown => JSON.parse(inflated(column));

import type { Table } from '../table/table.ts';
import type { EventFilter } from './event-filter.ts';
import type { JournalHead } from './journal-head.ts';
import type { NumberRange } from './read-numbers.ts';
import { firstSegmentAfter, firstSegmentFrom } from './read-segments.ts';
import { timestampsOf, type Segment } from './segment.ts';
import type { StoredEvent } from './stored-event.ts';

/**
 * Finds the numbers of the events from `from` to `to`, as of `head`. Timestamps never decrease with the number, so two parallel
 * look-ups are enough. Each reads one segment, or the tail if the bound is newer than the segments.
 */
export async function numbersBetween(
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

function firstNumberWhere(segment: Segment, holds: (time: number) => boolean): number {
  const place = timestampsOf(segment).findIndex(holds);
  if (place < 0) throw new Error("A stored index segment's timestamps end before its key says.");
  return segment.first_number + place;
}

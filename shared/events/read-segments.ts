import { journalKeys } from '../table/keys.ts';
import { queryBetween, type Table } from '../table/table.ts';
import type { EventFilter } from './event-filter.ts';
import type { JournalHead } from './journal-head.ts';
import { gapOrDeleted } from './read-numbers.ts';
import { parseSegment, type Segment } from './segment.ts';

/** An event's position in the order of the segments' keys. */
interface SegmentPosition {
  at: string;
  number: number;
}

const beforeAll = 0;
const afterAll = 999_999_999_999;

/**
 * Reads the segments that can contain events of a time range, as of `head`, oldest first. Reads up to 16 stretches in parallel,
 * because one query returns at most 1 MB and further pages would be sequential. The head's marks separate the stretches.
 * @throws ServiceError `not_found` if the journal was deleted in the meantime
 * @throws Error if a segment is missing or damaged
 */
export async function readSegments(
  table: Table,
  computationId: string,
  head: JournalHead,
  { from, to }: Pick<EventFilter, 'from' | 'to'>,
): Promise<Segment[]> {
  if (head.sealed === 0 || (from !== undefined && from > head.sealed_at)) return [];
  const endsWithin = to !== undefined && to < head.sealed_at;
  const start: SegmentPosition = { at: from ?? '', number: beforeAll };
  const end: SegmentPosition = endsWithin ? { at: to, number: afterAll } : { at: head.sealed_at, number: head.sealed };
  const stretches = cut(start, end, head.marks.ends).map((stretch) => querySegments(table, computationId, ...stretch));
  const straddling = endsWithin ? [firstSegmentAfter(table, computationId, head, to).then((segment) => [segment])] : [];
  const segments = (await Promise.all([...stretches, ...straddling])).flat();

  const isWhole =
    segments.every((segment, index) => index === 0 || segment.first_number === (segments[index - 1]?.last_number ?? 0) + 1) &&
    (from !== undefined || segments[0]?.first_number === 1) &&
    (endsWithin || segments.at(-1)?.last_number === head.sealed);
  return isWhole ? segments : gapOrDeleted(table, computationId);
}

/** Reads the segment with the first event at or after `at`, which is at most `head.sealed_at`. Throws as readSegments does. */
export function firstSegmentFrom(table: Table, computationId: string, head: JournalHead, at: string): Promise<Segment> {
  return oneSegment(table, computationId, head, { at, number: beforeAll });
}

/** Reads the segment with the first event after `at`, which is before `head.sealed_at`. Throws as readSegments does. */
export function firstSegmentAfter(table: Table, computationId: string, head: JournalHead, at: string): Promise<Segment> {
  return oneSegment(table, computationId, head, { at, number: afterAll });
}

async function oneSegment(table: Table, computationId: string, head: JournalHead, start: SegmentPosition): Promise<Segment> {
  const [segment] = await querySegments(table, computationId, start, { at: head.sealed_at, number: head.sealed }, 1);
  return segment ?? gapOrDeleted(table, computationId);
}

function cut(start: SegmentPosition, end: SegmentPosition, marks: SegmentPosition[]): [SegmentPosition, SegmentPosition][] {
  const inside = marks.filter((mark) => isBefore(start, mark) && isBefore(mark, end));
  const starts = [start, ...inside.map((mark) => ({ at: mark.at, number: mark.number + 1 }))];
  return starts.map((position, index) => [position, inside[index] ?? end]);
}

const isBefore = (one: SegmentPosition, other: SegmentPosition) =>
  one.at < other.at || (one.at === other.at && one.number < other.number);

async function querySegments(
  table: Table,
  computationId: string,
  start: SegmentPosition,
  end: SegmentPosition,
  limit?: number,
): Promise<Segment[]> {
  const items = await queryBetween(
    table,
    journalKeys.segment(computationId, start.at, start.number),
    journalKeys.segment(computationId, end.at, end.number),
    { limit },
  );
  return items.map(parseSegment);
}

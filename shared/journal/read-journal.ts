import { toHex } from 'computation-management-formats/bytes';
import { numberOf } from 'computation-management-formats/identifiers';
import { notFound } from '../runtime/errors.ts';
import { journalKeys } from '../table/keys.ts';
import { deadlineOf, type Table, getItem, queryBetween, getItemsOf } from '../table/table.ts';
import { type JournalHead, parseStoredEvent, readHead, type StoredEvent } from './journal.ts';
import { facetOf, parseSegment, type Segment } from './segment.ts';
import { StaleReadError } from '../table/transaction.ts';

const beforeAll = 0;
const afterAll = 999_999_999_999;

/** A range of numbers of events in a journal, both ends included. The range is empty if `from` is greater than `to`. */
export interface NumberRange {
  from: number;
  to: number;
}

/**
 * Reads a range of events that exist according to the journal's head, the oldest first.
 * @throws ServiceError `not_found` if the journal was deleted in the meantime
 * @throws JournalGapError if an event is missing
 * @throws Error if an event is damaged
 */
export async function readNumberRange(table: Table, computationId: string, range: NumberRange): Promise<StoredEvent[]> {
  if (range.from > range.to) return [];
  const items = await queryBetween(
    table,
    journalKeys.event(computationId, range.from),
    journalKeys.event(computationId, range.to),
  );
  const events = items.map(parseStoredEvent);
  const isWhole =
    events.length === range.to - range.from + 1 && events.every((event, index) => event.number === range.from + index);
  return isWhole ? events : gapOrDeleted(table, computationId);
}

/**
 * Reads the events with these numbers, which exist according to the journal's head.
 * @param numbers ascending
 * @throws ServiceError `not_found` if the journal was deleted in the meantime; JournalGapError if an event is missing
 */
export async function readNumbers(table: Table, computationId: string, numbers: number[]): Promise<StoredEvent[]> {
  const [from, to] = [numbers[0], numbers.at(-1)];
  if (from === undefined || to === undefined) return [];
  if (to - from + 1 === numbers.length) return readNumberRange(table, computationId, { from, to });
  const items = await getItemsOf(table, numbers, (number) => journalKeys.event(computationId, number));
  return items.includes(undefined) ? gapOrDeleted(table, computationId) : items.map(parseStoredEvent);
}

/** A journal up to its head, as it was read: what was recorded later is ignored. */
export interface Journal {
  table: Table;
  computationId: string;
  head: JournalHead;
}

/**
 * Reads the newest events of a computation, which are not in the index of the journal yet: at most 256 events or 128 KiB, plus
 * one append.
 */
export function readTail({ table, computationId, head }: Journal): Promise<StoredEvent[]> {
  return readNumberRange(table, computationId, { from: head.sealed + 1, to: head.count });
}

/**
 * Reads the newest events of some types since a time, the newest first, at most `limit`. Finds them by the index of the journal. Three
 * sequential round trips.
 * @throws ServiceError `not_found` if the journal was deleted in the meantime
 * @throws Error if the journal is damaged
 */
export async function readNewestOf(
  table: Table,
  computationId: string,
  { types, from, limit }: { types: readonly string[]; from: string; limit: number },
): Promise<StoredEvent[]> {
  return await withoutGaps(table, async () => {
    const journal = { table, computationId, head: await readHead(table, computationId) };
    const [segments, tail] = await Promise.all([readSegments(journal, { from }), readTail(journal)]);
    const newest = tail.filter(({ event_type }) => types.includes(event_type)).toReversed();
    const numbers = segments.flatMap((segment) => {
      const { values, codes } = facetOf(segment, 'event_type');
      return codes.flatMap((code, place) => (types.includes(values[code] ?? '') ? [segment.first_number + place] : []));
    });
    const older = numbers.slice(Math.max(0, numbers.length + newest.length - limit));
    return [...newest, ...(await readNumbers(table, computationId, older)).toReversed()].slice(0, limit);
  });
}

/** Reads whether the journal of a computation has an event with this identifier and hash. Costs one read unit. */
export async function isInJournal(
  table: Table,
  computationId: string,
  { id, hash }: { id: string; hash: string },
): Promise<boolean> {
  const number = numberOf(id);
  const item = number === undefined ? undefined : await getItem(table, journalKeys.event(computationId, number));
  if (!item) return false;
  const event = parseStoredEvent(item);
  return event.id === id && toHex(event.hash) === hash;
}

/** The error of a read that finds a part of a journal missing: an append is only partly visible, or the journal is damaged. */
export class JournalGapError extends StaleReadError {
  override readonly name = 'JournalGapError';
}

/**
 * Throws the error for a part of a journal that is missing. A deletion removes the journal's head first.
 * @throws ServiceError `not_found` if there is no head, otherwise JournalGapError
 */
export async function gapOrDeleted(table: Table, computationId: string): Promise<never> {
  const head = await readHead(table, computationId);
  if (head.count === 0) throw notFound('computation');
  throw new JournalGapError(`The stored journal of computation ${computationId} has a gap.`);
}

/**
 * The number of times that a journal with a gap is read before it counts as damaged. The pauses between these attempts take far
 * longer in total than a transaction.
 */
const maxAttempts = 8;

/**
 * Reads a journal again while it has a gap, up to eight times. Throws Error after the last attempt: the journal is damaged.
 * @param read gets the number of the attempt, from 1
 */
export async function withoutGaps<Result>(table: Table, read: (attempt: number) => Promise<Result>): Promise<Result> {
  try {
    return await deadlineOf(table).retry(read, (error, attempt) => error instanceof JournalGapError && attempt < maxAttempts);
  } catch (error) {
    throw error instanceof JournalGapError ? new Error(error.message, { cause: error }) : error;
  }
}

interface SegmentPosition {
  at: string;
  number: number;
}

/**
 * Reads the index segments that can contain a journal's events of a time range, the oldest first. Stretches of segments are read
 * in parallel, because one query returns at most 1 MB.
 * @throws ServiceError `not_found` if the journal was deleted in the meantime
 * @throws JournalGapError if a segment is missing
 * @throws Error if a segment is damaged
 */
export async function readSegments(journal: Journal, { from, to }: { from?: string | undefined; to?: string | undefined }) {
  const { table, computationId, head } = journal;
  if (head.sealed === 0 || (from !== undefined && from > head.sealed_at)) return [];
  const endsWithin = to !== undefined && to < head.sealed_at;
  const start: SegmentPosition = { at: from ?? '', number: beforeAll };
  const end: SegmentPosition = endsWithin ? { at: to, number: afterAll } : endOf(head);
  const stretches = cut(start, end, head.marks.ends).map((stretch) => querySegments(journal, ...stretch));
  const straddling = endsWithin ? [firstSegmentAfter(journal, to).then((segment) => [segment])] : [];
  const segments = (await Promise.all([...stretches, ...straddling])).flat();

  const isWhole =
    segments.every((segment, index) => index === 0 || segment.first_number === (segments[index - 1]?.last_number ?? 0) + 1) &&
    (from !== undefined || segments[0]?.first_number === 1) &&
    (endsWithin || segments.at(-1)?.last_number === head.sealed);
  return isWhole ? segments : gapOrDeleted(table, computationId);
}

/**
 * Reads the first index segment whose last event was recorded at or after a time.
 * @param at at most `head.sealed_at`
 * @throws ServiceError `not_found` if the journal was deleted in the meantime; JournalGapError if the segment is missing
 */
export function firstSegmentFrom(journal: Journal, at: string): Promise<Segment> {
  return oneSegment(journal, { at, number: beforeAll });
}

/**
 * Reads the first index segment whose last event was recorded after a time.
 * @param at before `head.sealed_at`
 * @throws ServiceError `not_found` if the journal was deleted in the meantime; JournalGapError if the segment is missing
 */
export function firstSegmentAfter(journal: Journal, at: string): Promise<Segment> {
  return oneSegment(journal, { at, number: afterAll });
}

async function oneSegment(journal: Journal, start: SegmentPosition): Promise<Segment> {
  const [segment] = await querySegments(journal, start, endOf(journal.head), 1);
  return segment ?? gapOrDeleted(journal.table, journal.computationId);
}

const endOf = (head: JournalHead): SegmentPosition => ({ at: head.sealed_at, number: head.sealed });

function cut(start: SegmentPosition, end: SegmentPosition, marks: SegmentPosition[]): [SegmentPosition, SegmentPosition][] {
  const inside = marks.filter((mark) => isBefore(start, mark) && isBefore(mark, end));
  const starts = [start, ...inside.map((mark) => ({ at: mark.at, number: mark.number + 1 }))];
  return starts.map((position, index) => [position, inside[index] ?? end]);
}

const isBefore = (one: SegmentPosition, other: SegmentPosition) =>
  one.at < other.at || (one.at === other.at && one.number < other.number);

async function querySegments({ table, computationId }: Journal, start: SegmentPosition, end: SegmentPosition, limit?: number) {
  const keyOf = ({ at, number }: SegmentPosition) => journalKeys.segment(computationId, at, number);
  return (await queryBetween(table, keyOf(start), keyOf(end), { limit })).map(parseSegment);
}

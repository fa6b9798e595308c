import { notFound } from '../errors.ts';
import { journalKeys } from '../table/keys.ts';
import { deadlineOf, getItems, queryBetween, type Table } from '../table/table.ts';
import { StaleReadError } from '../table/transaction.ts';
import { readHead } from './journal-head.ts';
import { parseStoredEvent, type StoredEvent } from './stored-event.ts';

/** A range of event numbers, both inclusive. Empty if `from` is greater than `to`. */
export interface NumberRange {
  from: number;
  to: number;
}

/**
 * Reads a range of events, oldest first. The range must exist according to the journal's head.
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

/** Reads the events with these ascending numbers, in this order. Throws as readNumberRange does. */
export async function readNumbers(table: Table, computationId: string, numbers: number[]): Promise<StoredEvent[]> {
  const [from, to] = [numbers[0], numbers.at(-1)];
  if (from === undefined || to === undefined) return [];
  if (to - from + 1 === numbers.length) return readNumberRange(table, computationId, { from, to });
  const items = await getItems(
    table,
    numbers.map((number) => journalKeys.event(computationId, number)),
  );
  return items.includes(undefined) ? gapOrDeleted(table, computationId) : items.map(parseStoredEvent);
}

/** Thrown if an event is missing: for some milliseconds, while an append is only partly visible, or because of damage. */
export class JournalGapError extends StaleReadError {
  override readonly name = 'JournalGapError';
}

/**
 * Throws the error for an incomplete journal. A deletion removes the head first, so without a head the journal was deleted.
 * @throws ServiceError `not_found` if the journal has no head
 * @throws JournalGapError if it has a head
 */
export async function gapOrDeleted(table: Table, computationId: string): Promise<never> {
  const head = await readHead(table, computationId);
  if (head.count === 0) throw notFound('computation');
  throw new JournalGapError(`The stored journal of computation ${computationId} has a gap.`);
}

/** Attempts while an append is only partly visible. Their pauses take far longer in total than a transaction. */
const maxAttempts = 8;

/**
 * Reads again after each JournalGapError.
 * @param read gets the number of the attempt, from 1
 * @throws Error if the journal still has a gap in the last attempt, so that it is damaged
 */
export async function withoutGaps<Result>(table: Table, read: (attempt: number) => Promise<Result>): Promise<Result> {
  const deadline = deadlineOf(table);
  for (let attempt = 1; ; attempt++) {
    try {
      return await read(attempt);
    } catch (error) {
      if (!(error instanceof JournalGapError)) throw error;
      if (attempt === maxAttempts) throw new Error(error.message, { cause: error });
      await deadline.pause(attempt, error);
    }
  }
}

import { notFound } from '../errors.ts';
import { journalKeys } from '../table/keys.ts';
import { getItems, queryBetween, type Table } from '../table/table.ts';
import { StaleReadError } from '../table/transaction.ts';
import { readHead } from './journal-head.ts';
import { parseStoredEvent, type StoredEvent } from './stored-event.ts';

/** Event numbers, both inclusive; none where `from` is above `to`. */
export interface NumberRange {
  from: number;
  to: number;
}

/**
 * The events of a range that the journal's head says is there, oldest first.
 * @throws ServiceError `not_found` when the journal has been deleted meanwhile.
 * @throws JournalGapError if one is missing
 * @throws Error if one is damaged
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

/** The events of ascending numbers, in their order. Errors as with readNumberRange. */
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

/** An append that is visible in part leaves a gap for some milliseconds; one that stays is damage. */
export class JournalGapError extends StaleReadError {
  override readonly name = 'JournalGapError';
}

/**
 * @throws ServiceError `not_found` if the journal has been deleted: it loses its head first
 * @throws JournalGapError if it has a head
 */
export async function gapOrDeleted(table: Table, computationId: string): Promise<never> {
  const head = await readHead(table, computationId);
  if (head.count === 0) throw notFound('computation');
  throw new JournalGapError(`The stored journal of computation ${computationId} has a gap.`);
}

import { numberOf } from '../identifiers.ts';
import { journalKeys } from '../table/keys.ts';
import { deadlineOf, getItems, queryPrefix, type Table } from '../table/table.ts';
import { parseHead, readHead, type JournalHead } from './journal-head.ts';
import { eventsPerAppend } from './journal.ts';
import { JournalGapError } from './read-numbers.ts';
import { parseStoredEvent } from './stored-event.ts';

/** Where a client is in a journal: it knows the events up to `number`. */
export interface JournalPosition {
  number: number;
  /** Read together with the event, strongly consistent. */
  head: JournalHead;
}

/** Identifiers of earlier versions do not contain the event's number. They are searched among this many newest events. */
const searchedEvents = 100;

/**
 * Finds the event with this identifier. An empty identifier is the position before the first event. One round trip, three read units at
 * most for small events; more for an identifier of an earlier version.
 * @returns undefined if it is no event of this journal
 */
export async function findPosition(table: Table, computationId: string, eventId: string): Promise<JournalPosition | undefined> {
  if (eventId === '') return { number: 0, head: await readHead(table, computationId) };
  const number = numberOf(eventId);
  if (number === undefined) return await searchNewest(table, computationId, eventId);
  const position = await findNumbered(table, computationId, eventId, number);
  if (position !== 'maybe partly visible') return position;
  await deadlineOf(table).pause(1, new JournalGapError(`Event ${number} of computation ${computationId} is missing.`));
  const second = await findNumbered(table, computationId, eventId, number);
  return second === 'maybe partly visible' ? undefined : second;
}

async function findNumbered(
  table: Table,
  computationId: string,
  eventId: string,
  number: number,
): Promise<JournalPosition | 'maybe partly visible' | undefined> {
  const [headItem, item] = await getItems(table, [journalKeys.head(computationId), journalKeys.event(computationId, number)]);
  const head = parseHead(headItem);
  if (item) return parseStoredEvent(item).id === eventId ? { number, head } : undefined;
  const isNew = number > 0 && number <= head.count + eventsPerAppend;
  return isNew && head.count > 0 ? 'maybe partly visible' : undefined;
}

async function searchNewest(table: Table, computationId: string, eventId: string): Promise<JournalPosition | undefined> {
  const partition = journalKeys.partition(computationId);
  const newest = { limit: searchedEvents, newestFirst: true };
  const [head, items] = await Promise.all([
    readHead(table, computationId),
    queryPrefix(table, partition, journalKeys.prefixes.event, newest),
  ]);
  const found = items.map(parseStoredEvent).find(({ id }) => id === eventId);
  return found && { number: found.number, head };
}

import type { Event } from '../events/event.ts';
import { parseEvent } from '../events/stored-event.ts';
import { journalKeys } from '../table/keys.ts';
import { getItems, type Table } from '../table/table.ts';
import { computationKey, parseComputation } from './find-computation.ts';

/**
 * Reads the latest lifecycle event of a computation. One round trip.
 * @throws ServiceError `not_found`
 */
export async function readStatus(table: Table, domain: string, id: string): Promise<Event> {
  const [row, latest] = await getItems(table, [computationKey(domain, id), journalKeys.latest(id)]);
  parseComputation(row, id);
  return parseEvent(latest);
}

import type { Event, NewEvent } from '../../shared/events/event.ts';
import { appendEvents } from '../../shared/events/journal.ts';
import { readHead } from '../../shared/events/journal-head.ts';
import { type Table } from '../../shared/table/table.ts';
import { transact, withFreshReads } from '../../shared/table/transaction.ts';

export const clockOfTests = '2025-07-17T08:00:00.000Z';

export function anEvent(fields: Partial<NewEvent> = {}): NewEvent {
  return { event_type: 'Running', status: 'InProgress', originator: 'agent', details: {}, lifecycle: true, ...fields };
}

/** Appends as a handler does: with fresh reads, in a transaction of its own, 50 events at a time. */
export async function appendToJournal(
  table: Table,
  computationId: string,
  events: NewEvent[],
  now = clockOfTests,
): Promise<Event[]> {
  const appended: Event[] = [];
  for (let start = 0; start < events.length; start += 50) {
    const batch = events.slice(start, start + 50);
    const written = await withFreshReads(table, async (table) => {
      const append = await appendEvents(table, computationId, await readHead(table, computationId), batch, now);
      await transact(table, append.actions);
      return append.events;
    });
    appended.push(...written);
  }
  return appended;
}

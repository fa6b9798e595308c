import { type Event, type NewEvent, readHead } from '../../shared/journal/journal.ts';
import { appendEvents, type JournalOwner } from '../../shared/journal/append-events.ts';
import { type Table } from '../../shared/table/table.ts';
import { transact, withFreshReads } from '../../shared/table/transaction.ts';

export const clockOfTests = '2025-07-17T08:00:00.000Z';

type Fields = { [field in keyof NewEvent]?: string | boolean | NewEvent['details'] };

export function ownerOf(computationId: string): JournalOwner {
  return { domain: 'd1', computationId };
}

/** Builds an event of the agent, with `fields` replaced. */
export function anEvent(fields: Fields = {}): NewEvent {
  const event = { event_type: 'Running', status: 'InProgress', originator: 'agent', details: {}, lifecycle: true };
  return { ...event, ...fields } as NewEvent;
}

/** Appends as a handler does: with fresh reads, and one transaction for every 50 events. */
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
      const append = await appendEvents(table, ownerOf(computationId), await readHead(table, computationId), batch, now);
      await transact(table, append.actions);
      return append.events;
    });
    appended.push(...written);
  }
  return appended;
}

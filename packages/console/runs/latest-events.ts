import { type Client, page, type Schemas } from 'computation-management-client';
import { mostShown } from './shown-events.ts';

type Event = Schemas['Event'];

interface Latest {
  /** Oldest first. */
  events: Event[];
  /** How many events of the run come before these. */
  earlier: number;
}

const pageSize = 100;

/** Reads the latest events of a run, as many as a timeline shows at first. */
export async function latestEvents(
  client: Client,
  { id, run: run_id }: { id: string; run: string },
  signal: AbortSignal,
): Promise<Latest> {
  const newestFirst = new Map<string, Event>();
  let total = Infinity;
  for (let offset = 0; offset < Math.min(mostShown, total); offset += pageSize) {
    const next = await page(client, 'listEvents', { id, run_id, offset, limit: pageSize, signal });
    total = Math.min(total, next.total); // what is recorded meanwhile moves the second page, and is none of these events
    for (const event of next.items) newestFirst.set(event.id, event);
  }
  return { events: [...newestFirst.values()].reverse(), earlier: total - newestFirst.size };
}

/** Reads the events of a run that come before one of them, oldest first. */
export async function eventsBefore(
  client: Client,
  { id: run_id, computation_id: id }: Pick<Schemas['Run'], 'id' | 'computation_id'>,
  known: Event,
  signal: AbortSignal,
): Promise<Event[]> {
  const before: Event[] = [];
  for (;;) {
    const { events } = await client.listEvents({ id, run_id, after: before.at(-1)?.id ?? '', limit: pageSize, signal });
    for (const event of events) {
      if (event.id === known.id) return before;
      before.push(event);
    }
    if (events.length === 0) return before;
  }
}

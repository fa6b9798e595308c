import { setTimeout as delay } from 'node:timers/promises';
import type { Event } from '../shared/events/event.ts';
import type { Client } from './client.ts';
import type { Timeline } from './timeline.ts';

export interface FollowedRun {
  computationId: string;
  runId: string;
  seen: Set<string>;
  startedAt: number;
}

const timeoutInMilliseconds = 60_000;

/** Prints a run's events as they are recorded, until `isAwaited` accepts one. @throws Error after a minute without it */
export async function follow(
  { event: print }: Timeline,
  client: Client,
  run: FollowedRun,
  isAwaited: (event: Event) => boolean,
): Promise<Event> {
  const deadline = Date.now() + timeoutInMilliseconds;
  const path = `/computations/${run.computationId}/events?run_id=${run.runId}&limit=100`;
  while (Date.now() < deadline) {
    const { events } = await client.call<{ events: Event[] }>('GET', path);
    for (const event of events.reverse()) {
      if (run.seen.has(event.id)) continue;
      run.seen.add(event.id);
      print((Date.parse(event.timestamp) - run.startedAt) / 1_000, event.event_type, event.status, event.originator);
      if (isAwaited(event)) return event;
    }
    await delay(100);
  }
  throw new Error('The awaited event did not come within a minute.');
}

/** Returns whether an event is the service's last one of a run. */
export function isEnd({ originator, event_type }: Event): boolean {
  return originator === 'system' && ['completed', 'failed', 'cancelled'].includes(event_type);
}

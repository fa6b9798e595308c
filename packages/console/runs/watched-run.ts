import { type Client, items, page, type Schemas, watchRun } from 'computation-management-client';
import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import { useDomain } from '../access/console-context.ts';
import { eventsOfKeys } from './key-events.ts';

interface WatchedRun {
  run?: Schemas['Run'] | undefined;
  /** The events of the watched run, oldest first: the latest and those about keys at the time the screen was opened, and all since. */
  events: Schemas['Event'][];
  /** The number of the run's earlier events that are not among `events`. */
  earlier: number;
  /** True once the events recorded before the screen was opened are loaded: all further events are new. */
  isFollowing: boolean;
  /** The error of the connection while the service cannot be reached. Watching the run goes on. */
  interruption?: unknown;
  /** The error that ended watching the run before the run ended. */
  problem?: unknown;
}

const nothing: WatchedRun = { events: [], earlier: 0, isFollowing: false };

/** Watches a run until it ends: its events as they are recorded, and its state. */
export function useWatchedRun({ id, run }: Place): WatchedRun {
  const { client } = useDomain();
  const [watched, setWatched] = useState(nothing);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const change = (fields: Partial<WatchedRun> | ((before: WatchedRun) => Partial<WatchedRun>)) => {
      if (signal.aborted) return;
      setWatched((before) => ({ ...before, ...(typeof fields === 'function' ? fields(before) : fields) }));
    };
    const watch = async () => {
      const [state, { events, earlier }] = await Promise.all([
        client.getRun({ id, run, signal }),
        latestEvents(client, { id, run }, signal),
      ]);
      flushSync(() => change({ run: events.reduce(runAfter, state), events, earlier })); // shown before what follows is announced
      change({ isFollowing: true });
      const following = watchRun(client, {
        id,
        run,
        after: events.at(-1)?.id,
        signal,
        onInterruption: (interruption) => change({ interruption }),
        onRecovery: () => change({ interruption: undefined }),
      });
      for (;;) {
        const next = await following.next();
        if (next.done) return change({ run: next.value });
        const event = next.value;
        change((before) => ({ events: [...before.events, event], run: before.run && runAfter(before.run, event) }));
      }
    };
    watch().catch((problem: unknown) => change({ problem }));
    return () => controller.abort();
  }, [client, id, run]);
  return watched;
}

function runAfter(run: Schemas['Run'], event: Schemas['Event']): Schemas['Run'] {
  return run.status === 'running' && event.event_type === 'stop_requested' ? { ...run, status: 'stopping' } : run;
}

type Event = Schemas['Event'];

type Place = Record<'id' | 'run', string>;

const pageSize = 100;

/** Reads the latest events of a run, as many as a timeline of the run shows at first, and before them those about keys of files. */
async function latestEvents(client: Client, { id, run: run_id }: Place, signal: AbortSignal) {
  const newestFirst = new Map<string, Event>();
  let total = Infinity;
  const read = async (offset: number, event_type?: string) => {
    const next = await page(client, 'listEvents', { id, run_id, event_type, offset, limit: pageSize, signal });
    for (const event of next.items) newestFirst.set(event.id, event);
    return next.total;
  };
  // What is recorded meanwhile moves the second page, and is none of these events.
  for (let offset = 0; offset < Math.min(mostShown, total); offset += pageSize) total = Math.min(total, await read(offset));
  for (const type of total > newestFirst.size ? eventsOfKeys : []) await read(0, type);
  const events = [...newestFirst.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
  return { events, earlier: total - events.length };
}

/** Reads all events of a run, oldest first. */
export async function allEvents(client: Client, { id, run: run_id }: Place): Promise<Event[]> {
  const newestFirst: Event[] = [];
  for await (const event of items(client, 'listEvents', { id, run_id })) newestFirst.push(event);
  return newestFirst.reverse();
}

/** The number of events that the timeline of a run shows at first: the latest ones. */
const mostShown = 200;

/** Returns the events that the timeline of a run shows at first: the latest, and all about keys of files. */
export function shownEvents<Each extends Pick<Event, 'event_type'>>(events: readonly Each[]): Each[] {
  return events.filter(({ event_type }, index) => index >= events.length - mostShown || eventsOfKeys.includes(event_type));
}

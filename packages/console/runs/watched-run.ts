import { type Client, page, type Schemas, watchRun } from 'computation-management-client';
import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import { useDomain } from '../access/console-context.ts';

interface WatchedRun {
  run: Schemas['Run'] | undefined;
  /** The events of the watched run, oldest first: the latest ones at the time the screen was opened, and all since. */
  events: Schemas['Event'][];
  /** The number of the run's events that come before `events`. */
  earlier: number;
  /** True once the events recorded before the screen was opened are loaded: all further events are new. */
  isFollowing: boolean;
  /** The error of the connection while the service cannot be reached. Watching the run goes on. */
  interruption: unknown;
  /** The error that ended watching the run before the run ended. */
  problem: unknown;
}

const nothing: WatchedRun = {
  run: undefined,
  events: [],
  earlier: 0,
  isFollowing: false,
  interruption: undefined,
  problem: undefined,
};

/** Watches a run until it ends: its events as they are recorded, and its state. */
export function useWatchedRun({ id, run }: { id: string; run: string }): WatchedRun {
  const { client } = useDomain();
  const [watched, setWatched] = useState(nothing);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const change = (fields: Partial<WatchedRun> | ((before: WatchedRun) => Partial<WatchedRun>)) => {
      if (signal.aborted) return;
      setWatched((before) => ({ ...before, ...(typeof fields === 'function' ? fields(before) : fields) }));
    };
    const gathered = gather<Schemas['Event']>((added) =>
      change((before) => ({ events: [...before.events, ...added], run: before.run && added.reduce(runAfter, before.run) })),
    );
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
        if (next.done) {
          gathered.flush();
          change({ run: next.value });
          return;
        }
        gathered.add(next.value);
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

interface Latest {
  /** The events of the run that were read, oldest first. */
  events: Event[];
  /** The number of the run's events that come before `events`. */
  earlier: number;
}

const pageSize = 100;

/** Reads the latest events of a run, as many as a timeline of the run shows at first. */
async function latestEvents(
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

/** Reads the events of a run that come before one of its events, oldest first. */
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

/** A collector of entries, such as events, that come one by one and are passed on together. */
interface Gather<Entry> {
  add: (entry: Entry) => void;
  /** Passes on the gathered entries now. */
  flush: () => void;
}

const longestInMilliseconds = 100;

/**
 * Returns a collector that passes entries on at most every 100 ms: a list on the screen is then copied and drawn once for many entries.
 * @param passOn takes the gathered entries
 */
export function gather<Entry>(passOn: (entries: Entry[]) => void): Gather<Entry> {
  let gathered: Entry[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (gathered.length === 0) return;
    const entries = gathered;
    gathered = [];
    passOn(entries);
  };
  return {
    add: (entry) => {
      gathered.push(entry);
      timer ??= setTimeout(flush, longestInMilliseconds);
    },
    flush,
  };
}

/** The number of events that the timeline of a run shows at first: the latest ones. */
const mostShown = 200;

/** Returns the events of a run that its timeline shows, and the number of earlier events that it does not show. */
export function shownEvents<Event>(events: readonly Event[], showsAll: boolean): { shown: readonly Event[]; hidden: number } {
  const hidden = showsAll ? 0 : events.length - mostShown;
  return hidden > 0 ? { shown: events.slice(hidden), hidden } : { shown: events, hidden: 0 };
}

import { type Schemas, watchRun } from 'computation-management-client';
import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import { useDomain } from '../shell/console-context.ts';
import { gather } from './gather.ts';
import { latestEvents } from './latest-events.ts';

export interface WatchedRun {
  run: Schemas['Run'] | undefined;
  /** Oldest first: the latest ones at the time the screen was opened, and all since. */
  events: Schemas['Event'][];
  /** How many events come before these. */
  earlier: number;
  /** Whether the events recorded before the screen was opened are loaded, so that all further events are new. */
  isFollowing: boolean;
  /** Why the service cannot be reached at the moment. The watch goes on. */
  interruption: unknown;
  /** Why the watch ended early. */
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

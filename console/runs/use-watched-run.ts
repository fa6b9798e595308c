import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import { type Schemas, watchRun } from '../../client/index.ts';
import { useDomain } from '../shell/console-context.ts';
import { gather } from './gather.ts';

export interface WatchedRun {
  run: Schemas['Run'] | undefined;
  /** Oldest first. */
  events: Schemas['Event'][];
  /** Whether all events are there that were recorded before the screen was opened: what follows is new. */
  isFollowing: boolean;
  /** Why the service cannot be reached at the moment. The watch goes on. */
  interruption: unknown;
  /** Why the watch ended early. */
  problem: unknown;
}

const nothing: WatchedRun = { run: undefined, events: [], isFollowing: false, interruption: undefined, problem: undefined };

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
      change((before) => ({ events: [...before.events, ...added], run: added.reduce(runAfter, before.run) })),
    );
    const watch = async () => {
      change({ run: await client.getRun({ id, run, signal }) });
      const [latest] = (await client.listEvents({ id, run_id: run, limit: 1, signal })).events;
      if (!latest) change({ isFollowing: true });
      const events = watchRun(client, {
        id,
        run,
        signal,
        onInterruption: (interruption) => change({ interruption }),
        onRecovery: () => change({ interruption: undefined }),
      });
      for (;;) {
        const next = await events.next();
        if (next.done) {
          gathered.flush();
          change({ run: next.value });
          return;
        }
        gathered.add(next.value);
        if (next.value.id === latest?.id) {
          flushSync(gathered.flush); // shown before what follows is announced
          change({ isFollowing: true });
        }
      }
    };
    watch().catch((problem: unknown) => change({ problem }));
    return () => controller.abort();
  }, [client, id, run]);
  return watched;
}

function runAfter(run: Schemas['Run'] | undefined, event: Schemas['Event']): Schemas['Run'] | undefined {
  return run?.status === 'running' && event.event_type === 'stop_requested' ? { ...run, status: 'stopping' } : run;
}

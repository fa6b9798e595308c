import { useEffect, useState } from 'react';
import { isEndOfRun, type Schemas, watchRun } from '../../client/index.ts';
import { useDomain } from '../shell/console-context.ts';

export interface WatchedRun {
  run: Schemas['Run'] | undefined;
  /** Oldest first. */
  events: Schemas['Event'][];
  /** Why the service cannot be reached at the moment. The watch goes on. */
  interruption: unknown;
  /** Why the watch ended early. */
  problem: unknown;
}

const nothing: WatchedRun = { run: undefined, events: [], interruption: undefined, problem: undefined };

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
    const readRun = async () => change({ run: await client.getRun({ id, run, signal }) });
    const watch = async () => {
      await readRun();
      const events = watchRun(client, { id, run, signal, onInterruption: (interruption) => change({ interruption }) });
      for (;;) {
        const next = await events.next();
        if (next.done) {
          change({ run: next.value, interruption: undefined });
          return;
        }
        const event = next.value;
        change((before) => ({ events: [...before.events, event], interruption: undefined }));
        if (event.event_type === 'stop_requested' && !isEndOfRun(event)) await readRun();
      }
    };
    watch().catch((problem: unknown) => change({ problem }));
    return () => controller.abort();
  }, [client, id, run]);
  return watched;
}

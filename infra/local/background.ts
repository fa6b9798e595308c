import { setTimeout as delay } from 'node:timers/promises';
import type { InvokeFunction } from './local-functions.ts';

/** Functions that nobody waits for. */
export interface Background {
  /** As Lambda does with an event: up to two more attempts, then a word on standard error. */
  invoke: (name: string, event: unknown) => void;
  every: (minutes: number, name: string) => void;
  /** Starts nothing any more, and waits for what is running. */
  stop: () => Promise<void>;
}

const pausesInMilliseconds = [1_000, 5_000];

export function startBackground(invoke: InvokeFunction): Background {
  const running = new Set<Promise<void>>();
  const timers: NodeJS.Timeout[] = [];
  const stopping = new AbortController();

  const attempt = async (name: string, event: unknown, pauses: number[]): Promise<void> => {
    if (stopping.signal.aborted) return;
    try {
      await invoke(name, event);
    } catch (error) {
      const [pause, ...others] = pauses;
      if (pause === undefined) {
        process.stderr.write(`${name} failed: ${String(error)}\n`);
        return;
      }
      await delay(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
      await attempt(name, event, others);
    }
  };
  const start = (name: string, event: unknown) => {
    const run = attempt(name, event, pausesInMilliseconds).finally(() => running.delete(run));
    running.add(run);
  };

  return {
    invoke: start,
    every: (minutes, name) => {
      timers.push(setInterval(() => start(name, {}), minutes * 60_000));
    },
    stop: async () => {
      stopping.abort();
      for (const timer of timers) clearInterval(timer);
      await Promise.all(running);
    },
  };
}

import type { InvokeFunction } from './local-functions.ts';
import { pause, type TimerClock } from '../../shared/timer-clock.ts';

/** Invokes functions without making the caller wait. */
export interface Background {
  /** Invokes a function as Lambda does for an event: up to two retries, then a line on standard error. */
  invoke: (name: string, event: unknown) => void;
  /** Invokes a function at this interval. Skips a turn while the previous one is running. */
  every: (minutes: number, name: string) => void;
  /** Starts no more invocations, and waits for those that are running. */
  stop: () => Promise<void>;
}

const pausesInMilliseconds = [1_000, 5_000];

export function startBackground(invoke: InvokeFunction, clock: TimerClock): Background {
  const running = new Set<Promise<void>>();
  const cancels = new Map<string, () => void>();
  const stopping = new AbortController();

  const attempt = async (name: string, event: unknown, pauses: number[]): Promise<void> => {
    if (stopping.signal.aborted) return;
    try {
      await invoke(name, event);
    } catch (error) {
      const [first, ...others] = pauses;
      if (first === undefined) {
        process.stderr.write(`${name} failed: ${String(error)}\n`);
        return;
      }
      await pause(clock, first, stopping.signal).catch(() => undefined);
      await attempt(name, event, others);
    }
  };
  const start = (name: string, event: unknown): Promise<void> => {
    const run = attempt(name, event, pausesInMilliseconds).finally(() => running.delete(run));
    running.add(run);
    return run;
  };

  return {
    invoke: (name, event) => void start(name, event),
    every: (minutes, name) => {
      let isRunning = false;
      const turn = () => {
        schedule();
        if (isRunning) return;
        isRunning = true;
        void start(name, {}).finally(() => {
          isRunning = false;
        });
      };
      const schedule = () => {
        cancels.set(name, clock.setTimer(minutes * 60_000, turn));
      };
      schedule();
    },
    stop: async () => {
      stopping.abort();
      for (const cancel of cancels.values()) cancel();
      await Promise.all(running);
    },
  };
}

import type { InvokeFunction } from './local-functions.ts';
import { pause, type TimerClock } from '../../shared/runtime/deadline.ts';

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

/** How long a start waits for interrupted deletions, which may take minutes. Then they continue in the background. */
const longestWaitInMilliseconds = 10_000;

export interface ContinueOptions {
  invoke: InvokeFunction;
  background: Background;
  clock: TimerClock;
  onStop: (stop: () => Promise<void>) => void;
}

/**
 * Continues what was interrupted when the service last ended: runs and deletions.
 * @throws Error with the runs that cannot go on
 */
export async function continueInterrupted({ invoke, background, clock, onStop }: ContinueOptions): Promise<void> {
  await resumeRuns(invoke);
  const deletions = continueDeletions(invoke, background);
  onStop(() => deletions);
  const waiting = new AbortController();
  await Promise.race([deletions, pause(clock, longestWaitInMilliseconds, waiting.signal)]);
  waiting.abort();
}

/** Lets the active runs go on. Ends those whose outcome was known. */
async function resumeRuns(invoke: InvokeFunction): Promise<void> {
  try {
    await invoke('lifecycle/sweep-runs', { grace_in_seconds: 0, most_calls: Number.MAX_SAFE_INTEGER, resumes: true });
  } catch (error) {
    const reasons = error instanceof AggregateError ? error.errors.map(String).join(' ') : String(error);
    throw new Error(`Cannot resume the interrupted runs: ${reasons}`, { cause: error });
  }
}

/**
 * Each start continues the deletions, so that an instance that keeps dying gets to them. A deletion that fails does not prevent
 * the start: it is retried in the background.
 */
async function continueDeletions(invoke: InvokeFunction, background: Background): Promise<void> {
  const names = ['maintenance/purge', 'maintenance/collect-content'];
  await Promise.all(names.map((name) => invoke(name, {}).catch(() => background.invoke(name, {}))));
}

import type { Background } from './background.ts';
import type { InvokeFunction } from './local-functions.ts';
import { pause, type TimerClock } from '../../shared/timer-clock.ts';

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

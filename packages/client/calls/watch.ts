import type { Schemas } from '../generated/api-types.ts';
import type { Arguments, CallOptions, Client } from './create-client.ts';
import { pause, retryUntilAborted, type RetryUntilAbortedOptions } from './retry.ts';

type Event = Schemas['Event'];

export interface WatchOptions
  extends Omit<Arguments<'listEvents'>, 'offset' | 'limit' | 'wait' | 'after'>, Omit<RetryUntilAbortedOptions, 'signal'> {
  /** The identifier of the event after which to begin. Default: begin at the first event of the journal. */
  after?: string | undefined;
}

const longestWaitInSeconds = 20;
const pauseInMilliseconds = 1_000;

/**
 * Yields the events of a computation as they are recorded, oldest first, each once. Goes on through any outage until `signal` is
 * aborted.
 * @throws ServiceProblem if the service refuses, such as 404; the signal's reason
 */
export async function* watchEvents(client: Client, options: WatchOptions): AsyncGenerator<Event, never, undefined> {
  const read = eventReader(client, options);
  for (;;) yield* await read();
}

/**
 * Returns a function that reads the next events of a journal. It waits for events for up to 20 seconds, or as long as its
 * argument says, and returns an empty list if none came.
 */
function eventReader(
  client: Client,
  { after = '', onInterruption, onRecovery, ...filters }: WatchOptions,
): (waitInSeconds?: number) => Promise<Event[]> {
  let last = after;
  return async (wait = longestWaitInSeconds) => {
    const askedAt = performance.now();
    const ask = () => client.listEvents({ ...filters, after: last, wait, limit: 100 });
    const { events } = await retryUntilAborted(ask, { signal: filters.signal, onInterruption, onRecovery });
    last = events.at(-1)?.id ?? last;
    // The service answers early if it holds too many requests: then the client pauses instead.
    const waited = performance.now() - askedAt;
    if (events.length === 0 && waited < wait * 1_000 - pauseInMilliseconds) await pause(pauseInMilliseconds, filters.signal);
    return events;
  };
}

type Run = Schemas['Run'];

export interface WatchRunOptions extends CallOptions, RetryUntilAbortedOptions {
  id: string;
  /** The identifier of the run to watch. Default: the latest run of the computation. */
  run?: string | undefined;
  /** The identifier of the event after which to begin. Default: begin at the first event of the run. */
  after?: string | undefined;
}

/** The pause in milliseconds between two reads of a run whose last event has come, but which is not shown as ended yet. */
const endPauseInMilliseconds = 200;

/**
 * Yields the events of a run as they are recorded, each once, until the run has ended. The generator returns the ended run.
 * @throws ServiceProblem if the service refuses, such as 404; the signal's reason
 */
export async function* watchRun(client: Client, options: WatchRunOptions): AsyncGenerator<Event, Run, undefined> {
  const { domainID, id, after, signal, onInterruption, onRecovery } = options;
  const persistence = { signal, onInterruption, onRecovery };
  const read = (run: string | undefined) => retryUntilAborted(() => client.getRun({ domainID, id, run, signal }), persistence);
  const { id: run_id, ended_at } = await read(options.run);
  const readRun = () => read(run_id);
  const readEvents = eventReader(client, { domainID, id, run_id, after, ...persistence });
  let wait = ended_at === null ? undefined : 0;
  for (;;) {
    const events = await readEvents(wait);
    for (const event of events) {
      yield event;
      if (isEndOfRun(event)) return await ended(readRun, signal);
    }
    if (events.length > 0) continue;
    const run = await readRun();
    if (run.ended_at !== null && wait === 0) return run; // `after` was the last event, or one after it
    wait = run.ended_at === null ? undefined : 0;
  }
}

/**
 * Waits until a run has ended, and calls `onEvent` with each of its events meanwhile.
 * @returns the ended run
 * @throws ServiceProblem if the service refuses, such as 404; the signal's reason
 */
export async function waitForRun(
  client: Client,
  { onEvent, ...options }: WatchRunOptions & { onEvent?: ((event: Event) => void) | undefined },
): Promise<Run> {
  const events = watchRun(client, options);
  for (;;) {
    const next = await events.next();
    if (next.done) return next.value;
    onEvent?.(next.value);
  }
}

export function isEndOfRun({ originator, event_type }: Event): boolean {
  return originator === 'system' && ['completed', 'failed', 'cancelled'].includes(event_type);
}

async function ended(readRun: () => Promise<Run>, signal: AbortSignal | undefined): Promise<Run> {
  for (;;) {
    const run = await readRun();
    if (run.ended_at !== null) return run;
    await pause(endPauseInMilliseconds, signal);
  }
}

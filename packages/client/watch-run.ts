import type { Schemas } from './api-types.ts';
import type { Client } from './create-client.ts';
import { pause } from './pause.ts';
import { retryUntilAborted, type RetryUntilAbortedOptions } from './retry-until-aborted.ts';
import { eventReader } from './watch-events.ts';

type Event = Schemas['Event'];
type Run = Schemas['Run'];

export interface WatchRunOptions extends RetryUntilAbortedOptions {
  domainID?: string | undefined;
  /** The computation. */
  id: string;
  /** The run. Default: the latest run of the computation. */
  run?: string | undefined;
  /** Begin after the event with this identifier. Default: at the first event of the run. */
  after?: string | undefined;
}

const pauseInMilliseconds = 200;

/**
 * Returns the events of a run as they are recorded, and ends when the run has ended. Each event comes once, whatever breaks in
 * between. The generator's return value is the run as it ended: `waitForRun` returns it to callers that use no generator.
 * @throws ServiceProblem if the service refuses, such as 404 if there is no such run; the signal's reason
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

/** Waits until a run has ended. @returns the run as it ended @throws as watchRun */
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

/** Whether an event is the one that ended its run. */
export function isEndOfRun({ originator, event_type }: Event): boolean {
  return originator === 'system' && ['completed', 'failed', 'cancelled'].includes(event_type);
}

async function ended(readRun: () => Promise<Run>, signal: AbortSignal | undefined): Promise<Run> {
  for (;;) {
    const run = await readRun();
    if (run.ended_at !== null) return run;
    await pause(pauseInMilliseconds, signal);
  }
}

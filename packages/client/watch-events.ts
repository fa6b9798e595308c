import type { Schemas } from './api-types.ts';
import type { Client } from './create-client.ts';
import type { Arguments } from './operation.ts';
import { pause } from './pause.ts';
import { retryUntilAborted, type RetryUntilAbortedOptions } from './retry-until-aborted.ts';

type Event = Schemas['Event'];

export interface WatchOptions
  extends Omit<Arguments<'listEvents'>, 'offset' | 'limit' | 'wait' | 'after'>, Omit<RetryUntilAbortedOptions, 'signal'> {
  /** Begin after the event with this identifier. Default: at the first event of the journal. */
  after?: string | undefined;
}

const longestWaitInSeconds = 20;
const pauseInMilliseconds = 1_000;

/**
 * Returns the events of a computation, oldest first, as they are recorded. Each event comes once, whatever breaks in between:
 * while the service cannot be reached it tries again, until `signal` ends it.
 * @throws ServiceProblem if the service refuses, such as 404 after the computation was deleted; the signal's reason
 */
export async function* watchEvents(client: Client, options: WatchOptions): AsyncGenerator<Event, never, undefined> {
  const read = eventReader(client, options);
  for (;;) yield* await read();
}

/**
 * Returns a function that returns the events after those that it returned before. It waits for them up to 20 seconds, or not at
 * all; without events after that time it returns none.
 */
export function eventReader(
  client: Client,
  { after = '', onInterruption, onRecovery, ...filters }: WatchOptions,
): (waitInSeconds?: number) => Promise<Event[]> {
  let last = after;
  return async (wait = longestWaitInSeconds) => {
    const askedAt = Date.now();
    const ask = () => client.listEvents({ ...filters, after: last, wait, limit: 100 });
    const { events } = await retryUntilAborted(ask, { signal: filters.signal, onInterruption, onRecovery });
    last = events.at(-1)?.id ?? last;
    // The service answers early if it holds too many requests: then the client pauses instead.
    const waited = Date.now() - askedAt;
    if (events.length === 0 && waited < wait * 1_000 - pauseInMilliseconds) await pause(pauseInMilliseconds, filters.signal);
    return events;
  };
}

import { type Client, type Schemas, watchRun } from 'computation-management-client';
import type { Timeline } from './timeline.ts';

export interface FollowedRun {
  computationId: string;
  runId: string;
  /** The last event that was printed. */
  after?: string;
  startedAt: number;
}

const timeoutInMilliseconds = 60_000;

/**
 * Prints a run's events as they are recorded, until it has ended or `isAwaited` accepts one.
 * @returns the run as it ended; undefined if the awaited event came
 * @throws Error after a minute
 */
export async function follow(
  { event: print }: Timeline,
  client: Client,
  run: FollowedRun,
  isAwaited: (event: Schemas['Event']) => boolean = () => false,
): Promise<Schemas['Run'] | undefined> {
  const signal = AbortSignal.timeout(timeoutInMilliseconds);
  const events = watchRun(client, { id: run.computationId, run: run.runId, after: run.after, signal });
  for (;;) {
    const { done, value } = await events.next();
    if (done) return value;
    run.after = value.id;
    print((Date.parse(value.timestamp) - run.startedAt) / 1_000, value.event_type, value.status, value.originator);
    if (isAwaited(value)) return undefined;
  }
}

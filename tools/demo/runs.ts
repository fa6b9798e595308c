import { type Schemas, type Client, watchRun } from 'computation-management-client';
import type { Cast } from './cast.ts';
import { ok as ensure } from 'node:assert';
import type { Timeline } from './timeline.ts';

async function start({ step }: Timeline, { owner }: Cast, computationId: string, cvmId: string): Promise<FollowedRun> {
  let runId = '';
  const startedAt = Date.now();
  await step('owner', `starts a run on ${cvmId}`, async () => {
    runId = await owner.startRun({ id: computationId, cvm: cvmId });
    return `run ${runId}`;
  });
  return { computationId, runId, startedAt };
}

/** Starts a run of a computation and waits until the run has completed. @returns the run's identifier */
export async function runToEnd(timeline: Timeline, cast: Cast, computationId: string, cvmId: string): Promise<string> {
  const run = await start(timeline, cast, computationId, cvmId);
  const ended = await follow(timeline, cast.owner, run);
  await expectEnd(timeline, ended, 'completed');
  return run.runId;
}

/** Starts a run of a computation, stops the run while its algorithm is running, and waits until it is cancelled. */
export async function runAndStop(timeline: Timeline, cast: Cast, computationId: string, cvmId: string): Promise<void> {
  const run = await start(timeline, cast, computationId, cvmId);
  await follow(timeline, cast.owner, run, ({ event_type, status }) => event_type === 'Running' && status === 'InProgress');
  await timeline.step('owner', 'stops it', async () => {
    const { status } = await cast.owner.stopRun({ id: computationId });
    ensure(status === 'stopping', `the run is ${status}, not stopping`);
    return status;
  });
  await expectEnd(timeline, await follow(timeline, cast.owner, run), 'cancelled');
}

async function expectEnd({ step }: Timeline, run: Schemas['Run'] | undefined, expected: string): Promise<void> {
  await step('owner', 'reads how it ended', async () => {
    const outcome = `${run?.status ?? 'not'}: ${run?.reason ?? ''}`;
    ensure(run?.status === expected, `the run ended as ${outcome}`);
    return outcome;
  });
}

interface FollowedRun {
  computationId: string;
  runId: string;
  /** The identifier of the last event of the run that was printed. */
  after?: string;
  startedAt: number;
}

const timeoutInMilliseconds = 60_000;

/**
 * Prints the events of a run as they are recorded, until the run has ended or `isAwaited` accepts an event.
 * @returns the ended run; undefined if the awaited event came
 * @throws Error after a minute
 */
async function follow(
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

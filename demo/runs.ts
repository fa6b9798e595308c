import type { Event } from '../shared/events/event.ts';
import type { Run } from '../shared/computations/run.ts';
import type { Cast } from './cast.ts';
import { ensure } from './ensure.ts';
import { follow, type FollowedRun, isEnd } from './follow.ts';
import type { Timeline } from './timeline.ts';

async function start({ step }: Timeline, { owner }: Cast, computationId: string, cvmId: string): Promise<FollowedRun> {
  let runId = '';
  const startedAt = Date.now();
  await step('owner', `starts a run on ${cvmId}`, async () => {
    runId = await owner.call<string>('POST', `/computations/${computationId}/run?cvm=${cvmId}`);
    return `run ${runId}`;
  });
  return { computationId, runId, seen: new Set(), startedAt };
}

/** Starts a run and waits until it has completed. @returns the run's identifier */
export async function runToEnd(timeline: Timeline, cast: Cast, computationId: string, cvmId: string): Promise<string> {
  const run = await start(timeline, cast, computationId, cvmId);
  const { event_type } = await follow(timeline, cast.owner, run, isEnd);
  await timeline.step('owner', 'reads how it ended', async () => {
    const { status, reason } = await cast.owner.call<Run>('GET', `/computations/${computationId}/run`);
    ensure(event_type === 'completed' && status === 'completed', `the run ended as ${status}: ${reason ?? ''}`);
    return `${status}: ${reason ?? ''}`;
  });
  return run.runId;
}

/** Starts a run and stops it while its algorithm is running. */
export async function runAndStop(timeline: Timeline, cast: Cast, computationId: string, cvmId: string): Promise<void> {
  const run = await start(timeline, cast, computationId, cvmId);
  const isAtWork = ({ event_type, status }: Event) => event_type === 'Running' && status === 'InProgress';
  await follow(timeline, cast.owner, run, (event) => isAtWork(event) || isEnd(event));
  await timeline.step('owner', 'stops it', async () => {
    const { status } = await cast.owner.call<Run>('POST', `/computations/${computationId}/stop`);
    ensure(status === 'stopping', `the run is ${status}, not stopping`);
    return status;
  });
  await follow(timeline, cast.owner, run, isEnd);
  await timeline.step('owner', 'reads how it ended', async () => {
    const { status, reason } = await cast.owner.call<Run>('GET', `/computations/${computationId}/run`);
    ensure(status === 'cancelled', `the run ended as ${status}: ${reason ?? ''}`);
    return `${status}: ${reason ?? ''}`;
  });
}

import { describe, expect, it } from 'vitest';
import { simulateCvm } from '../../../packages/simulated-cvm/simulated-cvm.ts';
import type { CvmConnection } from '../../../packages/simulated-cvm/simulated-connection.ts';
import { manifest } from '../../../shared/openapi/examples.ts';

const runId = 'run';
const pace = { eventsInMilliseconds: 1, heartbeatInMilliseconds: 1, pollInMilliseconds: 1 };

/** Runs a CVM that works without an end. @param statusAfter the run's status after each report, by what it says */
async function lifeOf(statusAfter: (said: string) => string | null): Promise<string[]> {
  const said: string[] = [];
  let isHeld = true;
  const connection: CvmConnection = {
    work: async () => ({
      commands: said.length === 0 ? [{ id: 'c', type: 'run', run_id: runId, manifest }] : [],
      run: isHeld ? { id: runId, accepted_at: null } : null,
    }),
    report: async (...reports) => {
      said.push(...reports.map((report) => (report.type === 'event' ? `${report.event_type}/${report.status}` : report.type)));
      const status = statusAfter(said.at(-1) ?? '');
      if (status !== 'running') isHeld = false;
      return status;
    },
  };
  const closing = new AbortController().signal;
  await simulateCvm({ cvmId: 'sim-ignore-stop-1', runId, connection, pace, closing });
  return said;
}

describe('simulateCvm', () => {
  it.each(['failed', 'cancelled', null])('stops its work when the status of its run is %s after a heartbeat', async (status) => {
    const said = await lifeOf((report) => (report === 'heartbeat' ? status : 'running'));
    expect(said.filter((report) => report === 'heartbeat')).toHaveLength(1);
    expect(said.at(-1)).toBe('heartbeat');
  });

  it('sends no more events when its run has failed after one', async () => {
    const said = await lifeOf((report) => (report === 'Running/Starting' ? 'failed' : 'running'));
    expect(said.at(-1)).toBe('Running/Starting');
  });
});

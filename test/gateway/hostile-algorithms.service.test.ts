import { describe, expect, it } from 'vitest';
import { endingEvents } from '../../shared/rows/ways-to-end.ts';
import { startGatewayStack } from '../support/gateway-stack.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';

const world = sharedByTests(startGatewayStack);

const refused = () => world.gateway.gateway?.counts.eventsRefused ?? 0;

/** Starts a run on a new CVM, up to the state in which its algorithm works. */
async function atWork(cvmId: string) {
  const started = await world.startRunOn(cvmId);
  started.agent.upload();
  await expect.poll(() => world.journal(started.computationId)).toContain('Running/InProgress');
  return started;
}

describe('an event that an algorithm writes to the socket of the log-forwarder', () => {
  it.each([
    ['patient 17', 'positive', 'agent'],
    ['Running', 'patient 17', 'agent'],
    ['Running', 'Terminated', 'agent'],
    ['AlgorithmRun', 'Warning', 'patient 17'],
  ])('is counted, and is in no journal: %s/%s of %s', async (event_type, status, originator) => {
    const { agent, computationId } = await atWork(
      `unknown-${event_type}-${status}-${originator}`.replaceAll(' ', '_').toLowerCase(),
    );
    const before = refused();
    for (let sent = 0; sent < 3; sent++) agent.event(event_type, status, computationId, originator);
    await expect.poll(refused).toBe(before + 3);
    agent.finish();
    await world.untilRun(computationId, 'completed');
    expect(JSON.stringify(await world.events(computationId))).not.toMatch(/patient 17|Terminated/);
  });

  it.each(endingEvents)('ends no run whose agent disagrees: %s', async (event) => {
    const { agent, computationId } = await atWork(`early-${event.replace('/', '-').toLowerCase()}`);
    const before = refused();
    const [event_type = '', status = ''] = event.split('/');
    agent.event(event_type, status);
    await expect.poll(refused).toBe(before + 1);
    expect(await world.untilRun(computationId, 'running')).toMatchObject({ ended_at: null });
    expect(await world.journal(computationId)).not.toContain(event);
    agent.finish();
    await world.untilRun(computationId, 'completed');
  });
});

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { lineRunLogs } from '../../gateway/session/run-logs.ts';
import type { Gateway } from '../../gateway/start-gateway.ts';
import { failWritesOf } from '../support/fail-calls.ts';
import { gatewayInProcess } from '../support/gateway-in-process.ts';
import { shortly, startGatewayStack, type GatewayStack } from '../support/gateway-stack.ts';
import { eventsWithoutDatasets, type AgentOptions, type SimulatedAgent } from '../support/simulated-agent.ts';

let world: GatewayStack;
let other: Awaited<ReturnType<GatewayStack['another']>>;
beforeAll(async () => {
  world = await startGatewayStack({}, { ofItsOwn: true });
  other = await world.another();
});
afterAll(() => world.stop());

const permissionDenied = 7;

/** Starts a run on a new CVM, by default at the first gateway, up to the state in which its algorithm works. */
async function atWork(cvmId: string, options: Partial<AgentOptions> = {}) {
  const started = await world.startRunOn(cvmId, options);
  started.agent.upload();
  await expect.poll(() => world.journal(started.computationId)).toContain('Running/InProgress');
  return started;
}

const localAddress = ({ port }: Gateway) => `localhost:${port}`;
const isOfAgent = (event: string) => /^[A-Z]/.test(event) && !event.startsWith('Attestation');
const codes = (agent: SimulatedAgent) => agent.errors.map(({ code }) => code);

describe('a second agent of a CVM that connects to another gateway', () => {
  it('is refused while the first one answers, with an event in the journal of its run', async () => {
    const { cvm, agent, computationId } = await atWork('twice-1');
    const second = world.connect({ ...cvm, address: other.address }, { hasForwarder: false, reconnectInMilliseconds: 60_000 });
    await expect.poll(() => codes(second)).toEqual([permissionDenied]);
    expect(second.errors[0]?.details).toContain('Another agent');
    await expect.poll(() => world.journal(computationId)).toContain('IdentityConflict/Warning');
    agent.finish();
    await world.untilRun(computationId, 'completed');
    expect(agent.errors).toEqual([]);
    second.end();
  });

  it('is recorded in the journal of the active run, even by a gateway that knows only an earlier run', async () => {
    const near = await gatewayInProcess(world.authority);
    const { cvm, agent, ...former } = await atWork('moved-on-1', { address: localAddress(near) });
    agent.address = other.address;
    agent.loseConnection();
    await expect.poll(() => near.gauges().cvms).toBe(0);
    agent.finish(); // its log-forwarder is still connected to the first gateway
    await world.untilRun(former.computationId, 'completed');

    agent.loseForwarder(); // so the first gateway hears nothing of the next run
    agent.restartAgent();
    await world.untilReady('moved-on-1');
    const { computationId, runId } = await world.startRun('moved-on-1');
    await expect.poll(() => agent.state).toBe('ReceivingAlgorithm');
    await expect.poll(async () => (await world.journal(computationId)).join()).toContain('ReceivingAlgorithm/');
    const address = localAddress(near);
    const stranger = world.connect({ ...cvm, address }, { hasForwarder: false, reconnectInMilliseconds: 60_000 });
    await expect.poll(() => codes(stranger)).toEqual([permissionDenied]);
    await expect.poll(() => world.journal(computationId)).toContain('IdentityConflict/Warning');
    const conflicts = (await world.events(computationId)).filter(({ event_type }) => event_type === 'IdentityConflict');
    expect(conflicts).toMatchObject([{ run_id: runId }]);
    expect(await world.journal(former.computationId)).not.toContain('IdentityConflict/Warning');
    agent.end();
    stranger.end();
    await near.stop();
  });

  it('replaces the first one if that does not answer', async () => {
    const { cvm, agent, computationId } = await atWork('hung-1');
    agent.hang();
    const again = world.connect({ ...cvm, address: other.address });
    await world.untilRun(computationId, 'failed'); // the agent that answers has no run: it was restarted
    await expect.poll(() => world.journal(computationId)).toContain('Failed/Failed (inferred)');
    await expect.poll(() => codes(agent)).toContain(permissionDenied);
    expect(again.errors).toEqual([]);
    agent.end();
  });

  it('replaces the first one if its gateway is frozen; that gateway closes the stream when it resumes', async () => {
    const cvm = await world.enrol('frozen-1');
    const first = world.connect(cvm);
    await world.untilReady('frozen-1');
    world.gateway.freeze();
    onTestFinished(() => world.gateway.thaw());
    const second = world.connect({ ...cvm, address: other.address });
    await expect.poll(() => second.questions).toBeGreaterThan(0);
    const { computationId } = await world.startRun('frozen-1');
    await expect.poll(() => second.state).toBe('ReceivingAlgorithm');
    world.gateway.thaw();
    await expect.poll(() => codes(first)).toContain(permissionDenied);
    second.upload();
    second.finish();
    await world.untilRun(computationId, 'completed');
    expect(first.requests).toEqual([]);
    expect(second.errors).toEqual([]);
  });
});

describe('a run on an agent whose gateway is killed', () => {
  it('completes at another gateway', async () => {
    const { agent, computationId } = await atWork('moved-1');
    agent.address = other.address;
    await world.gateway.kill();
    onTestFinished(() => world.gateway.start());
    agent.finish();
    await world.untilRun(computationId, 'completed');
    expect(agent.requests).toHaveLength(1);
    expect(await world.journal(computationId)).toContain('ConsumingResults/Ready (inferred)');
  });
});

describe('a gateway that stops while a report cannot be written', () => {
  it('still answers another gateway that its agent is there', async () => {
    const near = await gatewayInProcess(world.authority);
    const { cvm, agent, computationId } = await world.startRunOn('drained-1', { address: localAddress(near) });
    const writes = failWritesOf('Running', computationId);
    agent.upload();
    await expect.poll(() => writes.failures).toBeGreaterThan(0);
    const stopped = near.stop();
    const second = world.connect({ ...cvm, address: other.address }, { hasForwarder: false, reconnectInMilliseconds: 60_000 });
    await expect.poll(() => codes(second)).toEqual([permissionDenied]);
    writes.isBroken = false;
    await stopped;
    expect(await world.journal(computationId)).toContain('Running/InProgress');
    agent.end();
    second.end();
  });
});

describe('a gateway that stops', () => {
  it('waits for a report that is made meanwhile, after it has handed over the others', async () => {
    const near = await gatewayInProcess(world.authority);
    const waiting = async (cvmId: string) => {
      const started = await world.startRunOn(cvmId, { address: localAddress(near) });
      await expect.poll(() => world.journal(started.computationId)).toContain('ReceivingAlgorithm/InProgress');
      return started;
    };
    const [early, late] = await Promise.all([waiting('early-1'), waiting('late-1')]);
    const writesOf = ({ computationId }: typeof early) => failWritesOf('Running', computationId);
    const [earlyWrites, lateWrites] = [writesOf(early), writesOf(late)];
    early.agent.upload();
    await expect.poll(() => earlyWrites.failures).toBeGreaterThan(0);
    const stopped = near.stop();
    const before = earlyWrites.failures;
    await expect.poll(() => earlyWrites.failures).toBeGreaterThan(before + 1); // by then the stop waits for it
    late.agent.upload();
    await expect.poll(() => lateWrites.failures).toBeGreaterThan(0);
    earlyWrites.isBroken = false;
    await expect.poll(() => world.journal(early.computationId)).toContain('Running/InProgress');
    lateWrites.isBroken = false;
    await stopped;
    expect(await world.journal(late.computationId)).toContain('Running/InProgress');
    early.agent.end();
    late.agent.end();
  });
});

describe('a CVM that has gone for good', () => {
  it('leaves no log of its run open at its gateway', async () => {
    const ended: string[] = [];
    const logs = { ...lineRunLogs(), end: (runId: string) => ended.push(runId) };
    const near = await gatewayInProcess(world.authority, { logs });
    const { agent, computationId, runId } = await world.startRunOn('gone-1', { address: localAddress(near) });
    agent.upload();
    agent.finish();
    await world.untilRun(computationId, 'completed');
    expect(ended).toEqual([]);
    agent.end();
    await expect.poll(() => ended).toEqual([runId]);
    await near.stop();
  });
});

describe('a CVM whose agent holds results', () => {
  it('is counted as spent only when a user has fetched them', async () => {
    const near = await gatewayInProcess(world.authority);
    const { agent } = await world.startRunOn('fetched-1', { address: localAddress(near) });
    agent.upload();
    agent.finish();
    const presence = async () => (await world.call('GET', '/d1/cvms/fetched-1')).body['presence'];
    await expect.poll(presence).toMatchObject({ agent_state: 'ConsumingResults', fit: 'spent' });
    expect(near.gauges()).toMatchObject({ cvms: 1, spentCvms: [] });
    agent.fetch();
    await expect.poll(near.gauges).toMatchObject({ cvms: 1, spentCvms: [{ domain: 'd1', cvmId: 'fetched-1' }] });
    agent.end();
    await near.stop();
  });
});

describe('a spent CVM whose gateway is killed', () => {
  it('stays spent, and a run on it is refused', async () => {
    const { agent, computationId } = await atWork('spent-1');
    await world.stopRun(computationId);
    await world.untilRun(computationId, 'cancelled');
    await world.gateway.kill();
    await world.gateway.start();
    agent.questions = 0;
    await expect.poll(() => agent.questions).toBeGreaterThan(2); // by then the gateway has said what it takes the CVM for
    const { body } = await world.call('GET', '/d1/cvms/spent-1');
    expect(body['presence']).toMatchObject({ state: 'connected', fit: 'spent' });
    const refused = await world.call('POST', `/d1/computations/${computationId}/run?cvm=spent-1`);
    expect(refused).toMatchObject({ status: 409, body: { reason: 'cvm_not_ready' } });
    agent.end();
  });
});

describe('a CVM whose log-forwarder is connected to another gateway than its agent', () => {
  it('has each event of its run once', async () => {
    const { agent, computationId } = await world.startRunOn('apart-1', { forwarderAddress: other.address });
    agent.upload();
    agent.finish();
    await world.untilRun(computationId, 'completed');
    agent.fetch();
    const events = async () =>
      (await world.journal(computationId)).map((event) => event.replace(' (inferred)', '')).filter(isOfAgent);
    await expect.poll(events).toContain('Complete/Completed');
    expect(await events()).toEqual(eventsWithoutDatasets);
  });

  it('has the events of a computation that runs again in its second run', async () => {
    let isAgain = false;
    const allAtOnce = (agent: SimulatedAgent, state: string) => {
      if (!isAgain || state !== 'ReceivingAlgorithm') return;
      agent.upload();
      agent.finish();
      agent.fetch();
    };
    const options = { forwarderAddress: other.address, onState: allAtOnce };
    const { agent, computationId, runId } = await world.startRunOn('apart-again-1', options);
    const eventsOf = async (id: string) => {
      const events = (await world.events(computationId)).filter(({ run_id }) => run_id === id);
      return events.map((event) => shortly(event).replace(' (inferred)', '')).filter(isOfAgent);
    };
    agent.upload();
    await expect.poll(() => eventsOf(runId)).toContain('Running/InProgress');
    agent.fail();
    await world.untilRun(computationId, 'failed');
    await expect.poll(() => eventsOf(runId)).toHaveLength(5);

    agent.restartAgent();
    await world.untilReady('apart-again-1');
    isAgain = true;
    const { status, body } = await world.call('POST', `/d1/computations/${computationId}/run?cvm=apart-again-1`);
    expect(status).toBe(200);
    await world.untilRun(computationId, 'completed');
    await expect.poll(() => eventsOf(body as unknown as string)).toContain('Complete/Completed');
    expect(await eventsOf(body as unknown as string)).toEqual(eventsWithoutDatasets);
    expect(await eventsOf(runId)).toHaveLength(5);
  });

  it('is not taken for a CVM without a log-forwarder, until that is gone', async () => {
    const near = await gatewayInProcess(world.authority);
    const cvm = await world.enrol('apart-2');
    const agent = world.connect({ ...cvm, address: localAddress(near) }, { forwarderAddress: other.address });
    await world.untilReady('apart-2');
    await expect.poll(near.gauges).toMatchObject({ cvms: 1, missingForwarders: [] });
    agent.killForwarder();
    await expect.poll(near.gauges).toMatchObject({ cvms: 1, missingForwarders: [{ domain: 'd1', cvmId: 'apart-2' }] });
    await near.stop();
    agent.end();
  });
});

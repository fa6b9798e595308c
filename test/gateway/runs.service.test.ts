import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { detailsIn } from 'computation-management-formats/bytes';
import { withRunLogs } from '../../local/cvms/run-logs.ts';
import { failWritesOf } from '../support/fail-calls.ts';
import { callAs, readyComputation } from '../support/ready-computation.ts';
import { shortly, startGatewayStack } from '../support/gateway-stack.ts';
import { eventsWithoutDatasets, type AgentOptions, type SimulatedAgent } from '../support/simulated-agent.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';

const world = sharedByTests(startGatewayStack);

/** Takes every step as soon as it can. */
const throughout = (agent: SimulatedAgent) => {
  setTimeout(() => {
    agent.upload();
    agent.finish();
    agent.fetch();
  }, 20);
};

/** The events of the agent, oldest first. */
async function eventsOfAgent(computationId: string): Promise<string[]> {
  return (await world.events(computationId))
    .filter(({ event_type }) => /^[A-Z]/.test(event_type) && event_type !== 'Attestation')
    .map(shortly);
}

const untilState = (agent: SimulatedAgent, state: string) => expect.poll(() => agent.state).toBe(state);

/** Starts a run on a new CVM, up to the state in which the algorithm works. */
async function atWork(cvmId: string) {
  const started = await world.startRunOn(cvmId);
  started.agent.upload();
  return started;
}

/** Starts a run on an agent that answers that it has no server. */
async function expectRejected(cvmId: string, options: Partial<AgentOptions>): Promise<void> {
  world.connect(await world.enrol(cvmId), options);
  await world.untilReady(cvmId);
  const { computationId } = await world.startRun(cvmId);
  const { reason } = await world.untilRun(computationId, 'failed');
  expect(reason).toBe('The CVM rejected the run: The agent cannot start the run.');
}

describe('a run of an agent at the gateway', () => {
  it('completes, with each event of the agent once', async () => {
    const cvm = await world.enrol('complete-1');
    const agent = world.connect(cvm, { onState: throughout });
    await world.untilReady('complete-1');
    const { computationId } = await world.startRun('complete-1');
    await world.untilRun(computationId, 'completed');
    expect(agent.requests).toHaveLength(1);
    await expect.poll(() => eventsOfAgent(computationId)).toEqual(eventsWithoutDatasets);
  });

  it('fails with the reason from the log of the agent', async () => {
    const { agent, computationId } = await atWork('fail-1');
    agent.fail();
    const { reason } = await world.untilRun(computationId, 'failed');
    expect(reason).toBe('The algorithm ended with the exit code 3.');
  });

  it.each<[number, string, Partial<AgentOptions>]>([
    [0, '', {}],
    [3_000, '', {}],
    [5_000, ', and does not answer for its state', { onState: (agent) => agent.hang() }],
  ])('fails when the agent answers after %d ms that it cannot start%s', async (afterMilliseconds, _silence, options) => {
    await expectRejected(`unable-${afterMilliseconds}`, { cannotStart: { error: 'no server', afterMilliseconds }, ...options });
  });

  it('fails when the agent answers that it cannot start while its attestation cannot be kept', async () => {
    const writes = failWritesOf('"attestation#');
    await expectRejected('unable-broken', { cannotStart: { error: 'no server', afterMilliseconds: 300 } });
    expect(writes.failures).toBeGreaterThan(0);
  });

  it('is cancelled by a stop, and the failure that the agent reports after it is ignored', async () => {
    const { agent, computationId } = await atWork('stop-1');
    await world.stopRun(computationId);
    expect(await world.untilRun(computationId, 'cancelled')).toMatchObject({ reason: 'Stopped; the CVM confirmed it.' });
    expect(agent.stops).toBe(1);
    await expect.poll(() => eventsOfAgent(computationId)).toContain('Stopped/Stopped');
    await expect.poll(() => [...agent.sentEvents]).toContain('Running/Failed');
    agent.questions = 0;
    await expect.poll(() => agent.questions).toBeGreaterThan(2); // by then the gateway has read it
    expect(await eventsOfAgent(computationId)).not.toContain('Running/Failed');
  });

  it('is cancelled by a stop while the agent waits for uploads', async () => {
    const { agent, computationId } = await world.startRunOn('stop-2');
    await world.stopRun(computationId);
    await world.untilRun(computationId, 'cancelled');
    expect(agent.stops).toBe(1);
  });

  it('is cancelled by a stop before its agent gets it, counts as not accepted, and leaves the CVM ready', async () => {
    const agent = world.connect(await world.enrol('stop-3'));
    await world.untilReady('stop-3');
    agent.hang();
    const { computationId } = await world.startRun('stop-3');
    await world.stopRun(computationId);
    agent.goOn();
    await world.untilRun(computationId, 'cancelled');
    const last = (await world.events(computationId)).findLast(({ event_type }) => event_type === 'cancelled');
    expect(detailsIn(last?.details ?? '')).toMatchObject({ confirmed: true, accepted: false });
    expect(agent.requests).toEqual([]);
    await world.untilReady('stop-3');
    await world.startRun('stop-3');
    await expect.poll(() => agent.state).toBe('ReceivingAlgorithm');
  });

  it('completes if the agent has results when it is to stop, also when the log-forwarder is gone', async () => {
    const { agent, computationId } = await atWork('late-stop-1');
    await expect.poll(() => eventsOfAgent(computationId)).toContain('Running/InProgress');
    agent.hang();
    agent.loseForwarder();
    await world.stopRun(computationId);
    agent.finish();
    agent.goOn();
    await world.untilRun(computationId, 'completed');
    expect(await eventsOfAgent(computationId)).toContain('ConsumingResults/Ready (inferred)');
    expect(agent.stops).toBe(0);
  });

  it('ends by the state of the agent when the log-forwarder is gone, with events that say so', async () => {
    const { agent, computationId } = await atWork('mute-1');
    await expect.poll(() => eventsOfAgent(computationId)).toContain('Running/InProgress');
    agent.loseForwarder();
    agent.finish();
    await world.untilRun(computationId, 'completed');
    agent.fetch();
    await expect
      .poll(() => eventsOfAgent(computationId))
      .toEqual([
        'ReceivingAlgorithm/InProgress',
        'Running/Starting',
        'Running/InProgress',
        'ConsumingResults/Ready (inferred)',
        'Complete/Completed (inferred)',
      ]);
  });

  it('fails when the agent restarts in the middle', async () => {
    const { agent, computationId } = await atWork('restart-1');
    await expect.poll(() => eventsOfAgent(computationId)).toContain('Running/InProgress');
    agent.restart();
    const { reason } = await world.untilRun(computationId, 'failed');
    expect(reason).toContain('The agent restarted while the run was active.');
    expect(await eventsOfAgent(computationId)).toContain('Failed/Failed (inferred)');
  });

  it('goes on when the agent comes back after it lost its connection', async () => {
    const { agent, computationId } = await atWork('back-1');
    agent.abandonStream();
    agent.finish();
    await world.untilRun(computationId, 'completed');
    expect(agent.requests).toHaveLength(1);
  });

  it('goes on when the agent attests itself only after it has the run and lost its connection', async () => {
    const { agent, computationId } = await world.startRunOn('late-1', { attestsAtOnce: false });
    agent.upload();
    await expect.poll(() => eventsOfAgent(computationId)).toContain('Running/InProgress');
    agent.abandonStream();
    agent.sendAttestation();
    await expect.poll(() => world.journal(computationId)).toContain('Attestation/Received');
    agent.finish();
    await world.untilRun(computationId, 'completed');
    expect(await world.journal(computationId)).not.toContain('Failed/Failed (inferred)');
  });

  it('is sent again when the agent dropped it, also if the agent attests itself only then', async () => {
    const agent = world.connect(await world.enrol('late-2'), { attestsAtOnce: false, dropsRequests: 1 });
    await world.untilReady('late-2');
    const { computationId } = await world.startRun('late-2');
    await expect.poll(() => agent.requests).toHaveLength(1);
    agent.sendAttestation();
    await untilState(agent, 'ReceivingAlgorithm');
    expect(agent.requests).toHaveLength(2);
    await expect.poll(() => world.journal(computationId)).toContain('Attestation/Received');
  });

  it('is refused on a spent CVM until its agent was restarted', async () => {
    const { agent, computationId } = await atWork('spent-1');
    await world.stopRun(computationId);
    await world.untilRun(computationId, 'cancelled');
    const spent = async () => (await world.call('GET', '/d1/cvms/spent-1')).body['presence'];
    await expect.poll(spent).toMatchObject({ fit: 'spent' });
    const refused = await world.call('POST', `/d1/computations/${computationId}/run?cvm=spent-1`);
    expect(refused).toMatchObject({ status: 409, body: { reason: 'cvm_not_ready' } });
    agent.restart();
    await world.untilReady('spent-1');
    await world.startRun('spent-1');
    await untilState(agent, 'ReceivingAlgorithm');
    expect(agent.requests).toHaveLength(2);
  });

  it('is refused on a spent CVM also when its agent attests itself only then, on another stream', async () => {
    const { agent, computationId } = await world.startRunOn('spent-late-1', { attestsAtOnce: false });
    agent.upload();
    agent.finish();
    await world.untilRun(computationId, 'completed');
    agent.abandonStream();
    agent.sendAttestation();
    await expect.poll(() => world.journal(computationId)).toContain('Attestation/Received');
    const refused = await world.call('POST', `/d1/computations/${computationId}/run?cvm=spent-late-1`);
    expect(refused).toMatchObject({ status: 409, body: { reason: 'cvm_not_ready' } });
  });

  it('shows the lines of its agent to a party that waits for them, above a level and behind those it has', async () => {
    const agent = world.connect(await world.enrol('shared-log-1'));
    await world.untilReady('shared-log-1');
    const id = await readyComputation(world.call, 'd1');
    const named = await world.call('PUT', `/d1/computations/${id}`, { name: 'Logged', log_access: 'parties' });
    expect(named.status).toBe(200);
    await world.call('POST', `/d1/computations/${id}/run?cvm=shared-log-1`);
    await untilState(agent, 'ReceivingAlgorithm');
    const read = async (query: string) => (await world.call('GET', `/d1/computations/${id}/logs?level=info&${query}`)).body;
    const first = read('wait=20');
    agent.log('DEBUG', 'Below the level.');
    agent.log('WARN', 'Memory is low.');
    const { logs, next } = await first;
    expect(logs).toEqual([{ time: expect.any(String), level: 'warn', message: 'Memory is low.' }]);
    const second = read(`wait=20&after=${String(next)}`);
    agent.log('INFO', 'Another line.');
    expect(await second).toMatchObject({ logs: [{ level: 'info', message: 'Another line.' }] });
    agent.end();
  });

  it('has its log open to the owner at its start, and not to a later one', async () => {
    const { token, baseUrl } = world.stack;
    const as = async (user: string) => callAs(baseUrl, await token(user, ['d1:viewer']));
    const computationId = await readyComputation(world.call);
    const path = `/d1/computations/${computationId}`;
    expect((await world.call('PUT', path, { name: 'Logged', log_access: 'parties' })).status).toBe(200);
    const cvm = await world.enrol('owned-1');
    const agent = world.connect(cvm, { onState: throughout });
    await world.untilReady('owned-1');
    await world.call('POST', `${path}/run?cvm=owned-1`);
    await world.untilRun(computationId, 'completed');
    expect((await world.call('PUT', path, { name: 'Logged', owner: 'mallory' })).status).toBe(200);
    expect(await (await as('mallory'))('GET', `${path}/logs`)).toMatchObject({ status: 403 });
    expect(await (await as('alice'))('GET', `${path}/logs`)).toMatchObject({ status: 200 });
    agent.end();
  });

  it('leaves its log until its computation is deleted, or its domain', async () => {
    const fileOf = (domain: string, runId: string) => join(world.gateway.logs ?? '', domain, `${runId}.log`);
    const completed = async (domain: string) => {
      const cvmId = `logged-${domain}`;
      const agent = world.connect(await world.enrol(cvmId, { domain }));
      const presence = async () => (await world.call('GET', `/${domain}/cvms/${cvmId}`)).body['presence'];
      await expect.poll(presence).toMatchObject({ fit: 'ready' });
      const id = await readyComputation(world.call, domain);
      const { body } = await world.call('POST', `/${domain}/computations/${id}/run?cvm=${cvmId}`);
      await untilState(agent, 'ReceivingAlgorithm');
      agent.log('INFO', 'A line.');
      agent.upload();
      agent.finish();
      const status = async () => (await world.call('GET', `/${domain}/computations/${id}/run`)).body['status'];
      await expect.poll(status).toBe('completed');
      const file = fileOf(domain, body as unknown as string);
      await expect.poll(() => existsSync(file)).toBe(true);
      agent.end();
      return { id, file };
    };
    const [first, second] = await Promise.all([completed('d1'), completed('d2')]);
    expect((await world.call('DELETE', `/d1/computations/${first.id}`)).status).toBe(204);
    await world.stack.invoke('maintenance/purge', {});
    await expect.poll(() => existsSync(first.file)).toBe(false); // the schedule may have begun the purge before
    expect(existsSync(second.file)).toBe(true);

    writeFileSync(first.file, 'the log of a computation whose purge was followed by one that failed');
    const failing = withRunLogs(() => Promise.reject(new Error('A purge failed.')), world.gateway.logs ?? '');
    await expect(failing('maintenance/purge', {})).rejects.toThrow('A purge failed.');
    expect([existsSync(first.file), existsSync(second.file)]).toEqual([false, true]);

    const stray = fileOf('d2', randomUUID());
    writeFileSync(stray, 'the log of a computation that was deleted before');
    const removal = await fetch(`${world.stack.baseUrl}/local/domain`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ action: 'remove', domain: 'd2', stop: false }),
    });
    expect(await removal.json()).toMatchObject({ runLogs: 2 });
    expect([existsSync(second.file), existsSync(stray)]).toEqual([false, false]);
  });

  it('has the hash of the attestation of its agent in its journal', async () => {
    const { computationId } = await atWork('attested-1');
    const find = async () => (await world.events(computationId)).find(({ event_type }) => event_type === 'Attestation');
    await expect.poll(find).toBeDefined();
    const details = JSON.parse(Buffer.from((await find())?.details ?? '', 'base64').toString()) as Record<string, unknown>;
    expect(details).toEqual({ attestation_hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });
});

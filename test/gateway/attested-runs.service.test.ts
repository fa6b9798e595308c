import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../../gateway/start-gateway.ts';
import { amount } from '../support/amounts.ts';
import { computationWithPolicy, machineToken, trustForgedMachines, untilAttested } from '../support/attested-agents.ts';
import { gatewayInProcess } from '../support/gateway-in-process.ts';
import { startGatewayStack } from '../support/gateway-stack.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import type { AgentOptions, SimulatedAgent } from '../support/simulated-agent.ts';

const world = sharedByTests(() => startGatewayStack({}, { ofItsOwn: true }));
beforeAll(trustForgedMachines);

const addressOf = ({ port }: Gateway) => `localhost:${port}`;
const strict = {};
const reconnecting = { allow_reconnect: true };
const closed = /connection over which the agent attested itself has closed/;

/** Connects an agent that attests itself with the token of a machine of its own. */
async function attested(cvmId: string, options: Partial<AgentOptions> = {}) {
  const cvm = await world.enrol(cvmId);
  const agent = world.connect(cvm, { token: () => machineToken(cvm.certificate), ...options });
  await world.untilReady(cvmId);
  await untilAttested(world.call, cvmId);
  return { cvm, agent };
}

async function start(cvmId: string, policy: object): Promise<string> {
  const computationId = await computationWithPolicy(world.call, policy);
  const answer = await world.call('POST', `/d1/computations/${computationId}/run?cvm=${cvmId}`);
  expect(answer).toMatchObject({ status: 200 });
  return computationId;
}

async function atWork(cvmId: string, policy: object, options: Partial<AgentOptions> = {}) {
  const started = await attested(cvmId, options);
  const computationId = await start(cvmId, policy);
  await expect.poll(() => started.agent.state).toBe('ReceivingAlgorithm');
  started.agent.upload();
  await expect.poll(() => world.journal(computationId)).toContain('Running/InProgress');
  return { ...started, computationId };
}

/** A program with the key of a CVM that sends no attestation, and says that it works on a run. */
function silent(agent: SimulatedAgent): SimulatedAgent {
  agent.state = 'Running';
  return agent;
}

describe('a run with a policy that allows no reconnects', () => {
  it('completes over the connection that attested, and has not failed when its agent is restarted at once', async () => {
    const { agent, computationId } = await atWork('strict-1', strict);
    agent.finish();
    await world.untilRun(computationId, 'completed');
    agent.restart();
    await world.untilReady('strict-1');
    const journal = await world.journal(computationId);
    expect(journal.slice(journal.indexOf('ConsumingResults/Ready'))).toEqual(['ConsumingResults/Ready', 'completed/success']);
  });

  it('fails when that connection closes, whatever the agent of the next one says', async () => {
    const { cvm, agent, computationId } = await atWork('strict-2', strict);
    agent.end();
    const other = silent(world.connect(cvm, { attestsAtOnce: false }));
    expect(await world.untilRun(computationId, 'failed')).toMatchObject({ reason: expect.stringMatching(closed) });
    expect(other.requests).toEqual([]);
    other.end();
  });

  it('fails when a fifth token comes over that connection, after repeats and an empty one too', async () => {
    const { cvm, agent, computationId } = await atWork('strict-5', strict);
    const token = machineToken(cvm.certificate);
    for (const each of [token, token, token, new Uint8Array(), token]) agent.sendAttestation(each);
    for (let sent = 0; sent < 3; sent++) agent.sendAttestation(machineToken(cvm.certificate));
    const { reason } = await world.untilRun(computationId, 'failed');
    expect(reason).toContain('the agent process sent more than 4');
    agent.end();
  });

  it('fails at the gateway to which the agent connects when its gateway has gone', async () => {
    const near = await gatewayInProcess(world.authority);
    const { agent, computationId } = await atWork('strict-3', strict, { address: addressOf(near) });
    agent.address = world.gateway.address;
    await near.stop();
    agent.loseConnection();
    expect(await world.untilRun(computationId, 'failed')).toMatchObject({ reason: expect.stringMatching(closed) });
    await expect.poll(() => agent.stops).toBe(1);
    agent.end();
  });

  it('fails when its gateway has gone, though a stranger says nothing but that it is over, to the gateway of the forwarder alone', async () => {
    const [near, far, elsewhere] = await Promise.all([0, 1, 2].map(() => gatewayInProcess(world.authority)));
    if (!near || !far || !elsewhere) throw new Error('A gateway is missing.');
    const addresses = { address: addressOf(near), forwarderAddress: addressOf(elsewhere), reconnectInMilliseconds: 600_000 };
    const { cvm, agent, computationId } = await atWork('strict-6', strict, addresses);
    await near.stop();
    const options = { attestsAtOnce: false, hasForwarder: false, reconnectInMilliseconds: 600_000 };
    const other = world.connect({ ...cvm, address: addressOf(far) }, options);
    other.state = 'ConsumingResults';
    other.hang();
    agent.event('Running', 'Completed');
    agent.event('ConsumingResults', 'Ready');
    expect(await world.untilRun(computationId, 'failed')).toMatchObject({ reason: expect.stringMatching(closed) });
    other.end();
    agent.end();
    await Promise.all([far.stop(), elsewhere.stop()]);
  });

  it('fails when that connection closes before the agent confirms a stop: nothing shows that it has stopped', async () => {
    const { agent, computationId } = await atWork('strict-7', strict);
    agent.hang();
    await world.stopRun(computationId);
    const warnings = async () => (await world.journal(computationId)).filter((event) => event === 'AlgorithmRun/Warning');
    // The gateway sends the second warning once it has the answer to the first one, which says that the run is being stopped.
    for (let sent = 1; sent <= 2; sent++) {
      agent.event('AlgorithmRun', 'Warning');
      await expect.poll(warnings).toHaveLength(sent);
    }
    agent.end();
    expect(await world.untilRun(computationId, 'failed')).toMatchObject({ reason: expect.stringMatching(closed) });
    expect(await world.journal(computationId)).not.toContain('Stopped/Stopped (inferred)');
    expect(agent.stops).toBe(0);
  });

  it('is refused at once on an agent that has connected again since the run was started, and gets no manifest', async () => {
    const { agent } = await attested('strict-4');
    agent.hang();
    const computationId = await start('strict-4', strict);
    agent.loseConnection();
    agent.goOn();
    const { reason } = await world.untilRun(computationId, 'failed');
    expect(reason).toContain('has not attested itself over its present connection');
    expect(agent.requests).toEqual([]);
    agent.end();
  });
});

describe('a run with a policy that allows reconnects', () => {
  it('goes on over a later connection, which its journal says once', async () => {
    const { agent, computationId } = await atWork('loose-1', reconnecting);
    agent.loseConnection();
    await expect.poll(() => world.journal(computationId)).toContain('Reconnected/Warning (inferred)');
    agent.finish();
    await world.untilRun(computationId, 'completed');
    const reconnects = (await world.journal(computationId)).filter((event) => event.startsWith('Reconnected'));
    expect(reconnects).toHaveLength(1);
    agent.end();
  });

  it('begins on a later connection too, which its journal says', async () => {
    const { agent } = await attested('loose-4');
    agent.loseConnection();
    await world.untilReady('loose-4');
    const computationId = await start('loose-4', reconnecting);
    await expect.poll(() => world.journal(computationId)).toContain('Reconnected/Warning (inferred)');
    agent.end();
  });

  it('fails when another process of its CVM attests itself', async () => {
    const { agent, computationId } = await atWork('loose-2', reconnecting);
    agent.restartAgent();
    agent.state = 'Running';
    await world.untilRun(computationId, 'failed');
    agent.end();
  });

  it('goes on at another gateway when its gateway has gone', async () => {
    const near = await gatewayInProcess(world.authority);
    const { agent, computationId } = await atWork('loose-3', reconnecting, { address: addressOf(near) });
    agent.address = world.gateway.address;
    await near.stop();
    agent.loseConnection();
    await expect.poll(() => world.journal(computationId)).toContain('Reconnected/Warning (inferred)');
    agent.finish();
    await world.untilRun(computationId, 'completed');
    agent.end();
  });
});

let deployedAt = Date.now() - 3_600_000;
/** Returns the time of a deployment, a while ago and later than the one before. */
const deployedNext = () => new Date((deployedAt += 60_000)).toISOString();

describe('a gateway that a later deployment has replaced', () => {
  const deployed = async (revision: number, left: number[] = []) =>
    await gatewayInProcess(world.authority, {
      timings: { lease: 200, ping: 500 },
      deployment: { revision, startedAt: deployedNext(), drainHours: 24, leave: async () => void left.push(revision) },
    });

  it('takes no new connections, serves its attested agents, and may go when the last of them is gone or spent', async () => {
    const left: number[] = [];
    const old = await deployed(1, left);
    const [working, idle] = await Promise.all([
      atWork('drained-1', strict, { address: addressOf(old) }),
      attested('drained-2', { address: addressOf(old) }),
    ]);
    const next = await deployed(0); // a rollback
    await expect.poll(() => left).toEqual([1]);
    let mayGo = false;
    void old.drained.then(() => (mayGo = true));

    const late = world.connect(await world.enrol('drained-3'), { address: addressOf(old), reconnectInMilliseconds: 60_000 });
    await expect.poll(() => late.errors.length).toBeGreaterThan(0);
    const computationId = await start('drained-2', strict);
    await expect.poll(() => idle.agent.state).toBe('ReceivingAlgorithm');
    idle.agent.upload();
    for (const agent of [working.agent, idle.agent]) agent.finish();
    for (const id of [working.computationId, computationId]) await world.untilRun(id, 'completed');
    await expect.poll(() => mayGo).toBe(true);
    await old.stop();
    for (const agent of [working.agent, idle.agent, late]) agent.end();
    await next.stop();
  });
});

const fleet = amount({ sample: { working: 2, idle: 3 }, full: { working: 5, idle: 15 } });

describe(`a deployment of the gateway with ${fleet.working} attested CVMs at work and ${fleet.idle} idle`, () => {
  let deployments = 10;

  /** Deploys a second gateway while CVMs work. @returns the runs, and the start of a run on an idle CVM */
  async function deploy(policy: object) {
    const timings = { lease: 200, ping: 500 };
    const deployed = async () => {
      const deployment = { revision: ++deployments, startedAt: deployedNext(), drainHours: 24, leave: () => Promise.resolve() };
      return await gatewayInProcess(world.authority, { timings, deployment });
    };
    const old = await deployed();
    const address = addressOf(old);
    const named = (kind: string, count: number) => Array.from({ length: count }, (_, index) => `${kind}-${deployments}-${index}`);
    const working = await Promise.all(named('working', fleet.working).map((cvmId) => atWork(cvmId, policy, { address })));
    const idle = await Promise.all(named('idle', fleet.idle).map((cvmId) => attested(cvmId, { address })));
    await expect.poll(() => old.gauges().attestedCvms).toBe(fleet.working + fleet.idle);
    const next = await deployed();
    for (const { agent } of [...working, ...idle]) agent.address = addressOf(next);
    return { old, next, working, idle };
  }

  /** Runs a computation on each idle CVM, up to its end. */
  const startAll = async (idle: Awaited<ReturnType<typeof attested>>[], policy: object) => {
    await Promise.all(
      idle.map(async ({ cvm: { cvmId }, agent }) => {
        const id = await start(cvmId, policy);
        await expect.poll(() => agent.state).toBe('ReceivingAlgorithm');
        agent.upload();
        agent.finish();
        await world.untilRun(id, 'completed');
      }),
    );
  };

  it('loses no run and serves each start while it drains, also if the policy allows no reconnects', async () => {
    const { old, next, working, idle } = await deploy(strict);
    let mayGo = false;
    void old.drained.then(() => (mayGo = true));
    await startAll(idle, strict);
    expect(mayGo).toBe(false);
    for (const { agent, computationId } of working) {
      agent.finish();
      await world.untilRun(computationId, 'completed');
    }
    await old.drained;
    await old.stop();
    for (const { agent } of [...working, ...idle]) agent.end();
    await next.stop();
  });

  it('loses no run and serves each start after a gateway that does not drain, if the policy allows reconnects', async () => {
    const { old, next, working, idle } = await deploy(reconnecting);
    await old.stop();
    for (const { agent } of [...working, ...idle]) agent.loseConnection();
    await Promise.all(idle.map(({ cvm }) => world.untilReady(cvm.cvmId)));
    await startAll(idle, reconnecting);
    for (const { agent, computationId } of working) {
      agent.finish();
      await world.untilRun(computationId, 'completed');
    }
    for (const { agent } of [...working, ...idle]) agent.end();
    await next.stop();
  });
});

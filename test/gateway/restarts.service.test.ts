import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { cvmKeys } from '../../shared/table/keys.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { amount, oneIn, sampleSeed } from '../support/amounts.ts';
import { failReadsOf } from '../support/fail-calls.ts';
import { gatewayInProcess } from '../support/gateway-in-process.ts';
import { startGatewayStack } from '../support/gateway-stack.ts';
import type { SimulatedAgent } from '../support/simulated-agent.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';

beforeEach(oneIn(2));

const world = sharedByTests(() => startGatewayStack({}, { ofItsOwn: true }));

type Outcome = 'completed' | 'failed' | 'cancelled';

/** The time for which an algorithm works, and for which users take to upload, in milliseconds. */
const stepInMilliseconds = 300;

/** Takes its steps as users would, up to the outcome. A stop comes from the test. */
function stepwise(outcome: Outcome) {
  return (agent: SimulatedAgent, state: string) => {
    setTimeout(() => {
      if (state === 'ReceivingAlgorithm') agent.upload();
      else if (state === 'Running' && outcome === 'completed') agent.finish();
      else if (state === 'Running' && outcome === 'failed') agent.fail();
    }, stepInMilliseconds);
  };
}

/** Events that an agent sends, or that are inferred from its state. */
const ofAgents = /^(Receiving|Running|ConsumingResults|Complete|Failed|Stopped)/;

interface Death {
  number: number;
  random: () => number;
  /** The gateway of the log-forwarder. Default: that of the agent. */
  forwarderAddress?: string;
  /** Kills the gateway of the agent. */
  kill: (agent: SimulatedAgent) => Promise<void>;
}

/** Kills a gateway at a random moment of a run, and looks what became of the run. */
async function die({ number, random, forwarderAddress, kill }: Death): Promise<void> {
  const outcome = (['completed', 'failed', 'cancelled'] as const)[number % 3] ?? 'completed';
  const after = random() * 1_500;
  const cvmId = `killed-${forwarderAddress === undefined ? 'alone' : 'beside'}-${number}`;
  const what = `seed ${sampleSeed}, ${outcome}, killed after ${Math.round(after)} ms, forwarder at ${forwarderAddress ?? 'the same gateway'}`;
  const elsewhere = forwarderAddress === undefined ? {} : { forwarderAddress };
  const agent = world.connect(await world.enrol(cvmId), { onState: stepwise(outcome), ...elsewhere });
  await world.untilReady(cvmId);
  const { computationId } = await world.startRun(cvmId);
  const killed = delay(after).then(() => kill(agent));
  if (outcome === 'cancelled') {
    await delay(random() * 1_000);
    await world.stopRun(computationId);
  }
  await killed;
  await world.untilRun(computationId, outcome);
  const events = await world.journal(computationId);
  expect(agent.requests.length, what).toBeLessThanOrEqual(2);
  const names = events.map((event) => event.replace(' (inferred)', ''));
  expect(names, what).toEqual([...new Set(names)]);
  const unmarked = events.filter((event) => ofAgents.test(event) && !event.endsWith('(inferred)'));
  expect([...agent.sentEvents], what).toEqual(expect.arrayContaining(unmarked));
  const last = { completed: 'ConsumingResults/Ready', failed: 'Failed/Failed', cancelled: 'Stopped/Stopped' }[outcome];
  if (outcome !== 'cancelled') expect(names, what).toContain(last);
  agent.end();
}

const deaths = amount({ sample: 1, full: 30 });
const deathsBesideAnother = amount({ sample: 1, full: 30 });

describe('a gateway that is killed at a random moment of a run', () => {
  it(`loses no outcome and doubles no event, ${deaths} times`, { timeout: 900_000 }, async () => {
    const random = seededRandom(sampleSeed);
    const kill = async () => {
      await world.gateway.kill();
      await world.gateway.start();
    };
    for (let number = 0; number < deaths; number++) await die({ number, random, kill });
  });

  it(
    `loses no outcome and doubles no event if another gateway takes over, ${deathsBesideAnother} times`,
    { timeout: 900_000 },
    async () => {
      const random = seededRandom(sampleSeed);
      const other = await world.another();
      onTestFinished(() => world.gateway.start());
      const kill = async (agent: SimulatedAgent) => {
        agent.address = other.address;
        await world.gateway.kill();
      };
      const first = Math.floor(random() * 3);
      for (let number = first; number < first + deathsBesideAnother; number++) {
        const { address } = random() < 0.5 ? world.gateway : other;
        await die({ number, random, forwarderAddress: address, kill });
        await world.gateway.start();
      }
    },
  );
});

describe('a gateway that takes over a run while the claim of its CVM cannot be read', () => {
  it('learns later that the agent accepted the run, also if the run has got a line of the log before', async () => {
    const { cvm, agent, computationId } = await world.startRunOn('taken-over-1', { hasForwarder: false });
    // The service knows that the agent accepted the run. Else the next gateway would send it again.
    await expect.poll(async () => (await world.journal(computationId)).join()).toContain('ReceivingAlgorithm/');

    const reads = failReadsOf(cvmKeys.claim('d1', 'taken-over-1'));
    let lines = 0;
    const next = await gatewayInProcess(world.authority, {
      logs: { write: () => ++lines > 0, end: () => undefined, close: () => Promise.resolve() },
    });
    agent.address = `localhost:${next.port}`;
    await world.gateway.kill();
    onTestFinished(() => world.gateway.start());
    await expect.poll(() => next.gauges().cvms).toBe(1);
    await expect.poll(() => reads.failures).toBeGreaterThan(0);
    const forwarder = world.connect(cvm, { address: agent.address, reconnectInMilliseconds: 60_000 }); // its agent is refused
    forwarder.log('INFO', 'A line.');
    await expect.poll(() => lines).toBe(1);
    reads.isBroken = false;

    agent.state = 'ReceivingManifest';
    const { reason } = await world.untilRun(computationId, 'failed');
    expect(reason).toBe('The agent restarted while the run was active.');
    agent.end();
    forwarder.end();
    await next.stop();
  });
});

import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { inParallel } from '../../shared/runtime/in-parallel.ts';
import { amount, oneIn } from '../support/amounts.ts';
import { startGatewayStack } from '../support/gateway-stack.ts';
import { untilTestEnds } from '../support/patience.ts';
import type { SimulatedAgent } from '../support/simulated-agent.ts';

beforeEach(oneIn(3));

const fleet = amount({ sample: { idle: 4, working: 2 }, full: { idle: 980, working: 20 } });

describe('a gateway of many CVMs that is killed', () => {
  it(`has all ${fleet.idle + fleet.working} back, and their runs end as they should`, { timeout: 900_000 }, async () => {
    const world = await startGatewayStack({}, { ofItsOwn: amount<boolean | 'real'>({ sample: true, full: 'real' }) });
    onTestFinished(() => world.stop());
    const { call, enrol, gateway, startRun, untilReady, untilRun } = world;
    const ids = Array.from({ length: fleet.idle + fleet.working }, (_, index) => `fleet-${index}`);
    const [agents, runs]: [SimulatedAgent[], string[]] = [[], []];
    const connectOne = async (id: string) => {
      const isWorking = ids.indexOf(id) < fleet.working;
      const cvm = await enrol(id);
      const onState = (agent: SimulatedAgent, state: string) => {
        if (state === 'ReceivingAlgorithm') agent.upload();
      };
      agents.push(
        world.connect(cvm, { reconnectInMilliseconds: amount({ sample: 200, full: 5_000 }), ...(isWorking && { onState }) }),
      );
      await untilReady(id);
      if (isWorking) runs.push((await startRun(id)).computationId);
    };
    await inParallel(ids, connectOne);
    for (const id of runs)
      await vi.waitFor(async () => expect((await world.journal(id)).join()).toContain('Running/'), untilTestEnds);
    for (const agent of agents) agent.questions = 0;
    const since = performance.now();
    await gateway.kill();
    await gateway.start();
    await vi.waitFor(() => expect(agents.filter(({ questions }) => questions === 0)).toEqual([]), untilTestEnds);
    const back = performance.now() - since;
    console.log(`${agents.length} CVMs were back after ${(back / 1_000).toFixed(1)} s.`);
    for (const agent of agents) if (agent.state === 'Running') agent.finish();
    for (const id of runs) await untilRun(id, 'completed');
    for (const id of ids) {
      const { body } = await call('GET', `/d1/cvms/${id}`);
      expect(body['presence']).toMatchObject({ state: 'connected' });
    }
    for (const agent of agents) agent.end();
  });
});

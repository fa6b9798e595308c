import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../../gateway/start-gateway.ts';
import { gatewayInProcess } from '../support/gateway-in-process.ts';
import { startGatewayStack, type GatewayStack } from '../support/gateway-stack.ts';
import type { SimulatedAgent } from '../support/simulated-agent.ts';

let world: GatewayStack;
/** Two gateways that look at a registration again only when they have cause to. */
let gateways: readonly [Gateway, Gateway];
beforeAll(async () => {
  world = await startGatewayStack({}, { ofItsOwn: true });
  const seldom = { timings: { presence: 3_600_000 } };
  gateways = [await gatewayInProcess(world.authority, seldom), await gatewayInProcess(world.authority, seldom)];
});
afterAll(async () => {
  for (const gateway of gateways) await gateway.stop();
  await world.stop();
});

const permissionDenied = 7;
const codes = (agent: SimulatedAgent) => agent.errors.map(({ code }) => code);

/** Enrols the CVM, anew if it is enrolled, and connects an agent with the new certificate to a gateway. */
async function connectNew(cvmId: string, { port }: Gateway): Promise<SimulatedAgent> {
  const cvm = await world.enrol(cvmId);
  return world.connect({ ...cvm, address: `localhost:${port}` }, { reconnectInMilliseconds: 60_000 });
}

describe('a machine whose certificate is revoked while it is connected', () => {
  it('gets no run, and its stream ends when one is started', async () => {
    const agent = await connectNew('revoked-1', gateways[0]);
    await world.untilReady('revoked-1');
    expect((await world.call('PUT', '/d1/cvms/revoked-1', { description: '', certificate: null })).status).toBe(200);
    await world.startRun('revoked-1');
    await expect.poll(() => codes(agent)).toContain(permissionDenied);
    expect(agent.requests).toEqual([]);
    agent.end();
  });
});

describe('a machine with a new certificate, while the one before is connected', () => {
  it.each([
    ['the same gateway', 0],
    ['another gateway', 1],
  ] as const)('takes its place at once when it connects to %s, without a conflict', async (_, index) => {
    const cvmId = `replaced-${index}`;
    const before = await connectNew(cvmId, gateways[0]);
    await world.untilReady(cvmId);
    const agent = await connectNew(cvmId, gateways[index]);
    await expect.poll(() => agent.questions).toBeGreaterThan(0);
    await expect.poll(() => codes(before)).toContain(permissionDenied);
    await world.startRun(cvmId);
    await expect.poll(() => agent.requests).toHaveLength(1);
    expect([before.requests, agent.errors]).toEqual([[], []]);
    expect(gateways.map(({ counts }) => counts.identityConflicts)).toEqual([0, 0]);
    agent.end();
    before.end();
  });
});

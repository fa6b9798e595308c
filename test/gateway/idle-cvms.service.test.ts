import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deadline } from '../../shared/runtime/deadline.ts';
import { cvmKeys, type Key } from '../../shared/table/keys.ts';
import { openTable } from '../../shared/table/table.ts';
import { testTimings } from '../support/gateway-in-process.ts';
import { startGatewayStack, type GatewayStack } from '../support/gateway-stack.ts';
import type { SimulatedAgent } from '../support/simulated-agent.ts';

let world: GatewayStack;
/** The keys that this process, and so the gateway, has read: one list for each call. */
const reads: string[][] = [];
/** The partitions that it has written to. */
const written: string[] = [];
const nameOf = ({ pk, sk }: Key) => `${pk} ${sk}`;
beforeAll(async () => {
  world = await startGatewayStack({ cvmGateway: { port: 0, timings: { ...testTimings, lease: 50, answer: 60_000 } } });
  openTable(() => new Deadline()).document.middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) => {
        const {
          Key,
          Item,
          RequestItems = {},
        } = args.input as {
          Key?: Key;
          Item?: Key;
          RequestItems?: Record<string, { Keys?: Key[] }>;
        };
        if (commandName.startsWith('Get') && Key) reads.push([nameOf(Key)]);
        if (commandName.startsWith('BatchGet')) {
          reads.push(Object.values(RequestItems).flatMap(({ Keys = [] }) => Keys.map(nameOf)));
        }
        if (/^(Put|Update|Delete)/.test(commandName)) written.push(String((Key ?? Item)?.pk));
        return next(args);
      },
    { step: 'initialize' },
  );
});
afterAll(() => world.stop());

async function connectAll(ids: string[]): Promise<SimulatedAgent[]> {
  const agents = await Promise.all(ids.map(async (id) => world.connect(await world.enrol(id))));
  for (const id of ids) await world.untilReady(id);
  return agents;
}

/** Waits until each agent was asked for its state more often than this. */
async function untilAsked(agents: SimulatedAgent[], times: number): Promise<void> {
  for (const agent of agents) agent.questions = 0;
  await expect.poll(() => Math.min(...agents.map(({ questions }) => questions))).toBeGreaterThan(times);
}

const presence = async (cvmId: string) =>
  (await world.call('GET', `/d1/cvms/${cvmId}`)).body['presence'] as { last_seen_at: string };

describe('CVMs that are connected and idle', () => {
  it('count as seen whenever their gateway renews its lease, which writes one item for all of them', async () => {
    const ids = ['seen-1', 'seen-2', 'seen-3'];
    const agents = await connectAll(ids);
    const writesOf = (id: string) => written.filter((pk) => pk === cvmKeys.cvm('d1', id).pk).length;
    for (const id of ids) await expect.poll(() => writesOf(id)).toBeGreaterThanOrEqual(3); // held, forwarded, ready

    written.length = 0;
    const before = await Promise.all(ids.map(presence));
    await untilAsked(agents, 5);
    for (const [index, id] of ids.entries()) {
      const { last_seen_at, ...rest } = await presence(id);
      expect(last_seen_at > (before[index]?.last_seen_at ?? '')).toBe(true);
      expect(rest).toEqual({ state: 'connected', agent_state: 'ReceivingManifest', fit: 'ready' });
    }
    expect(written.filter((pk) => pk.startsWith('cvm#'))).toEqual([]);
    expect(new Set(written.filter((pk) => pk.startsWith('gateway#'))).size).toBe(1);
    for (const agent of agents) agent.end();
  });

  it('have their registrations read together, and the record of their agents once for all lines of their logs', async () => {
    const ids = ['read-1', 'read-2', 'read-3', 'read-4'];
    const agents = await connectAll(ids);
    const ofRegistrations = ids.map((id) => nameOf(cvmKeys.cvm('d1', id)));
    const ofRecords = ids.map((id) => nameOf(cvmKeys.agent('d1', id)));
    const countOf = (name: string) => reads.flat().filter((read) => read === name).length;
    const mostTogether = () => Math.max(...reads.map((read) => read.filter((name) => ofRegistrations.includes(name)).length));

    await untilAsked(agents, 2);
    expect(Math.min(...ofRecords.map(countOf))).toBeGreaterThan(0);
    reads.length = 0;
    await untilAsked(agents, 5);
    expect(ofRecords.map(countOf)).toEqual([0, 0, 0, 0]);
    await expect.poll(mostTogether).toBeGreaterThan(1);
    for (const agent of agents) agent.end();
  });
});

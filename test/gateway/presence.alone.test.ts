import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deadline } from '../../shared/runtime/deadline.ts';
import { cvmKeys, type Key } from '../../shared/table/keys.ts';
import { openTable } from '../../shared/table/open-table.ts';
import { testTimings } from '../support/gateway-in-process.ts';
import { startGatewayStack, type GatewayStack } from '../support/gateway-stack.ts';

let world: GatewayStack;
/** The partitions that this process, and so the gateway, has written to. */
const written: string[] = [];
beforeAll(async () => {
  world = await startGatewayStack({ cvmGateway: { port: 0, timings: { ...testTimings, lease: 50, answer: 60_000 } } });
  openTable(() => new Deadline()).document.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        const { Key, Item } = args.input as { Key?: Key; Item?: Key };
        if (/^(Put|Update|Delete)/.test(String(commandName))) written.push(String((Key ?? Item)?.pk));
        return next(args);
      },
    { step: 'initialize' },
  );
});
afterAll(() => world.stop());

const presence = async (cvmId: string) =>
  (await world.call('GET', `/d1/cvms/${cvmId}`)).body['presence'] as { last_seen_at: string };

describe('CVMs that are connected and idle', () => {
  it('count as seen whenever their gateway renews its lease, which writes one item for all of them', async () => {
    const ids = ['idle-1', 'idle-2', 'idle-3'];
    const agents = await Promise.all(ids.map(async (id) => world.connect(await world.enrol(id))));
    for (const id of ids) await world.untilReady(id);
    const isForwarded = async (id: string) =>
      expect.poll(() => written.filter((pk) => pk === cvmKeys.cvm('d1', id).pk).length).toBeGreaterThanOrEqual(3); // held, forwarded, ready
    for (const id of ids) await isForwarded(id);

    written.length = 0;
    const before = await Promise.all(ids.map(presence));
    for (const agent of agents) agent.questions = 0;
    await expect.poll(() => Math.min(...agents.map(({ questions }) => questions))).toBeGreaterThan(5);
    for (const [index, id] of ids.entries()) {
      const { last_seen_at, ...rest } = await presence(id);
      expect(last_seen_at > (before[index]?.last_seen_at ?? '')).toBe(true);
      expect(rest).toEqual({ state: 'connected', agent_state: 'ReceivingManifest', fit: 'ready' });
    }
    expect(written.filter((pk) => pk.startsWith('cvm#'))).toEqual([]);
    expect(new Set(written.filter((pk) => pk.startsWith('gateway#'))).size).toBe(1);
    for (const agent of agents) agent.end();
  });
});

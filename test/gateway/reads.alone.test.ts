import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deadline } from '../../shared/runtime/deadline.ts';
import { cvmKeys, type Key } from '../../shared/table/keys.ts';
import { openTable } from '../../shared/table/open-table.ts';
import { testTimings } from '../support/gateway-in-process.ts';
import { startGatewayStack, type GatewayStack } from '../support/gateway-stack.ts';

let world: GatewayStack;
/** The keys that this process, and so the gateway, has read: one list for each call. */
const reads: string[][] = [];
const nameOf = ({ pk, sk }: Key) => `${pk} ${sk}`;
beforeAll(async () => {
  world = await startGatewayStack({ cvmGateway: { port: 0, timings: testTimings } });
  openTable(() => new Deadline()).document.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        const { Key, RequestItems } = args.input as { Key?: Key; RequestItems?: Record<string, { Keys?: Key[] }> };
        if (/^Get/.test(String(commandName)) && Key) reads.push([nameOf(Key)]);
        if (/^BatchGet/.test(String(commandName)))
          reads.push(Object.values(RequestItems ?? {}).flatMap(({ Keys = [] }) => Keys.map(nameOf)));
        return next(args);
      },
    { step: 'initialize' },
  );
});
afterAll(() => world.stop());

describe('CVMs without a run', () => {
  it('have their registrations read together, and the record of their agents once for all lines of their logs', async () => {
    const ids = ['idle-1', 'idle-2', 'idle-3', 'idle-4'];
    const agents = await Promise.all(ids.map(async (id) => world.connect(await world.enrol(id))));
    for (const id of ids) await world.untilReady(id);
    const ofRegistrations = ids.map((id) => nameOf(cvmKeys.cvm('d1', id)));
    const ofRecords = ids.map((id) => nameOf(cvmKeys.agent('d1', id)));
    const countOf = (name: string) => reads.flat().filter((read) => read === name).length;

    for (const agent of agents) agent.questions = 0;
    await expect.poll(() => Math.min(...agents.map(({ questions }) => questions))).toBeGreaterThan(2);
    const before = ofRecords.map(countOf);
    reads.length = 0;
    for (const agent of agents) agent.questions = 0;
    await expect.poll(() => Math.min(...agents.map(({ questions }) => questions))).toBeGreaterThan(5);
    expect(before.every((count) => count > 0)).toBe(true);
    expect(ofRecords.map(countOf)).toEqual([0, 0, 0, 0]);
    await expect
      .poll(() => Math.max(...reads.map((read) => read.filter((name) => ofRegistrations.includes(name)).length)))
      .toBeGreaterThan(1);
    for (const agent of agents) agent.end();
  });
});

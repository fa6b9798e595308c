import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deadline } from '../../shared/deadline.ts';
import { readRegistration } from '../../shared/cvms/hold-cvm.ts';
import { cvmKeys, type Key } from '../../shared/table/keys.ts';
import { openTable } from '../../shared/table/open-table.ts';
import { startGatewayStack, type GatewayStack } from '../support/gateway-stack.ts';

let world: GatewayStack;
beforeAll(async () => {
  world = await startGatewayStack();
});
afterAll(() => world.stop());

describe('a CVM that is gone while the table does not answer', () => {
  it('is held by none of its streams, also if one that replaced another could not be noted', async () => {
    let failures: number | undefined;
    const table = openTable(() => new Deadline());
    const holder = async () => (await readRegistration(table, { domain: 'd1', cvmId: 'torn-1' }))?.holder;
    table.document.middlewareStack.add(
      (next) => (args) => {
        const { Key, UpdateExpression = '' } = args.input as { Key?: Key; UpdateExpression?: string };
        const isHold = Key?.pk === cvmKeys.cvm('d1', 'torn-1').pk && UpdateExpression.includes('held_stream');
        if (failures !== undefined && isHold && !UpdateExpression.includes('REMOVE')) {
          failures++;
          throw new Error('The table is broken.');
        }
        return next(args);
      },
      { step: 'initialize' },
    );
    const agent = world.connect(await world.enrol('torn-1'));
    await world.untilReady('torn-1');
    expect(await holder()).toBeDefined();
    failures = 0;
    agent.hang();
    agent.abandonStream();
    await expect.poll(() => failures).toBeGreaterThan(0);
    agent.end();
    await expect.poll(holder).toBeUndefined(); // else it would look connected for as long as the gateway lives
    failures = undefined;
  });
});

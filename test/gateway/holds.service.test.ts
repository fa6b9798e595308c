import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createAuthority, issueCvmCertificate } from '../../gateway/certificates/authority.ts';
import { Deadline } from '../../shared/runtime/deadline.ts';
import { readRegistration } from '../../shared/rows/command-stream.ts';
import { cvmKeys, type Key } from '../../shared/table/keys.ts';
import { openTable } from '../../shared/table/table.ts';
import { gatewayInProcess } from '../support/gateway-in-process.ts';
import { startGatewayStack } from '../support/gateway-stack.ts';
import { callAs } from '../support/ready-computation.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';

const world = sharedByTests(startGatewayStack);

describe('a CVM that is gone while the table does not answer', () => {
  it('has no stream recorded, even if recording one that replaced another failed', async () => {
    let failures: number | undefined;
    const table = openTable(() => new Deadline());
    const commandStream = async () => (await readRegistration(table, { domain: 'd1', cvmId: 'torn-1' }))?.commandStream;
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
    expect(await commandStream()).toBeDefined();
    failures = 0;
    agent.hang();
    agent.abandonStream();
    await expect.poll(() => failures).toBeGreaterThan(0);
    agent.end();
    await expect.poll(commandStream).toBeUndefined(); // else it would look connected for as long as the gateway lives
    failures = undefined;
  });
});

describe('a CVM whose agent did not answer for a while', () => {
  it('is given up when the agent has missed two questions, and held again as soon as it answers, whenever its presence is checked', async () => {
    const authority = await createAuthority('silent');
    const gateway = await gatewayInProcess(authority, { timings: { presence: 3_600_000 } });
    const cvm = await world.enrol('silent-1');
    const publicKey = new X509Certificate(cvm.certificate).publicKey.export({ format: 'pem', type: 'spki' }).toString();
    const certificate = await issueCvmCertificate(authority, { domain: 'd1', cvmId: 'silent-1' }, publicKey);
    expect((await world.call('PUT', '/d1/cvms/silent-1', { description: '', certificate })).status).toBe(200);
    const agent = world.connect({ ...cvm, address: `localhost:${gateway.port}`, ca: authority.certificate, certificate });
    await world.untilReady('silent-1');
    const table = openTable(() => new Deadline());
    const commandStream = async () => (await readRegistration(table, { domain: 'd1', cvmId: 'silent-1' }))?.commandStream;
    expect(await commandStream()).toBeDefined();

    agent.hang();
    await expect.poll(commandStream).toBeUndefined();
    agent.goOn();
    await expect.poll(commandStream).toBeDefined();
    agent.end();
    await gateway.stop();
  });
});

describe('a CVM whose agent restarts, and whose log-forwarder does not', () => {
  it('is marked as spent by no report from outside the gateway', async () => {
    const agent = world.connect(await world.enrol('said-1'));
    await world.untilReady('said-1');
    const asCvm = callAs(world.stack.baseUrl, await world.stack.token('said-1', ['d1:cvm:said-1']));
    const reports = [{ type: 'heartbeat', agent_state: 'Complete', fit: 'spent' }];
    const { status, body } = await asCvm('POST', '/d1/cvms/said-1/reports', { reports });
    expect([status, body]).toMatchObject([403, { reason: 'gateway_only' }]);
    expect((await world.call('GET', '/d1/cvms/said-1')).body['presence']).toMatchObject({ fit: 'ready' });
    agent.end();
  });
});

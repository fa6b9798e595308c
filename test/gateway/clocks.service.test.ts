import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createAuthority, issueCvmCertificate } from '../../gateway/certificates/authority.ts';
import { Deadline, systemClock } from '../../shared/runtime/deadline.ts';
import { openTable } from '../../shared/table/table.ts';
import { gatewayInProcess } from '../support/gateway-in-process.ts';
import { startGatewayStack } from '../support/gateway-stack.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';

const hour = 60 * 60_000;

const world = sharedByTests(startGatewayStack);

/** A CVM at a gateway whose time of day can be set. */
async function connectedAtOwnTime(cvmId: string) {
  let ahead = 0;
  const authority = await createAuthority('own time');
  const gateway = await gatewayInProcess(authority, {
    clock: { ...systemClock, now: () => systemClock.now() + ahead },
  });
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicKey = keys.publicKey.export({ format: 'pem', type: 'spki' }).toString();
  const certificate = await issueCvmCertificate(authority, { domain: 'd1', cvmId }, publicKey);
  expect((await world.call('PUT', `/d1/cvms/${cvmId}`, { description: '', certificate })).status).toBe(201);
  const agent = world.connect({
    cvmId,
    address: `localhost:${gateway.port}`,
    ca: authority.certificate,
    certificate,
    key: keys.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  });
  await world.untilReady(cvmId);
  const setAhead = (milliseconds: number) => (ahead = milliseconds);
  return { gateway, agent, setAhead };
}

describe('a gateway', () => {
  it('goes on to ask its agents for their state when its clock is set back by an hour', async () => {
    const { gateway, agent, setAhead } = await connectedAtOwnTime('set-back-1');
    setAhead(-hour);
    agent.questions = 0;
    await expect.poll(() => agent.questions).toBeGreaterThan(2);
    agent.end();
    await gateway.stop();
  });

  it('takes no CVM for silent when its clock is set ahead by an hour', async () => {
    const { gateway, agent, setAhead } = await connectedAtOwnTime('set-ahead-1');
    let releases = 0;
    openTable(() => new Deadline()).document.middlewareStack.add(
      (next) => (args) => {
        if (JSON.stringify(args.input).includes('REMOVE held_by')) releases++;
        return next(args);
      },
      { step: 'initialize' },
    );
    setAhead(hour);
    agent.questions = 0;
    await expect.poll(() => agent.questions).toBeGreaterThan(2);
    expect(releases).toBe(0);
    agent.end();
    await expect.poll(() => releases).toBeGreaterThan(0);
    await gateway.stop();
  });
});

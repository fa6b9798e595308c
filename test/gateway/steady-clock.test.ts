import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { steadyClock } from '../../gateway/steady-clock.ts';
import { createAuthority, issueCvmCertificate } from '../../infra/certificates/authority.ts';
import { systemClock } from '../../shared/clock.ts';
import { gatewayInProcess } from '../support/gateway-in-process.ts';
import { startGatewayStack, type GatewayStack } from '../support/gateway-stack.ts';

const hour = 60 * 60_000;

let world: GatewayStack;
beforeAll(async () => {
  world = await startGatewayStack();
});
afterAll(() => world.stop());

describe('a gateway whose clock is set back by an hour', () => {
  it('goes on to ask its agents for their state', async () => {
    let setBack = 0;
    const authority = await createAuthority('set back');
    const gateway = await gatewayInProcess(authority, {
      clock: { ...systemClock, now: () => systemClock.now() - setBack },
    });
    const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const publicKey = keys.publicKey.export({ format: 'pem', type: 'spki' }).toString();
    const certificate = await issueCvmCertificate(authority, { domain: 'd1', cvmId: 'set-back-1' }, publicKey);
    expect((await world.call('PUT', '/d1/cvms/set-back-1', { description: '', certificate })).status).toBe(201);
    const agent = world.connect({
      cvmId: 'set-back-1',
      address: `localhost:${gateway.port}`,
      ca: authority.certificate,
      certificate,
      key: keys.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    });
    await world.untilReady('set-back-1');
    setBack = hour;
    agent.questions = 0;
    await expect.poll(() => agent.questions).toBeGreaterThan(2);
    agent.end();
    await gateway.stop();
  });

  it('measures durations as if it had not been', () => {
    let time = 2 * hour;
    const clock = steadyClock({ ...systemClock, now: () => time });
    const times = [0, 5, -hour, 5, hour, 5].map((change) => {
      time += change;
      return clock.now() - 2 * hour;
    });
    expect(times).toEqual([0, 5, 5, 10, hour + 10, hour + 15]);
  });

  it('goes on from where it was also if the clock is set back in the moment in which it is read', () => {
    let time = 2 * hour;
    const clock = steadyClock({ ...systemClock, now: () => time-- });
    const times = [clock.now(), clock.now(), clock.now()];
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });
});

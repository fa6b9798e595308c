import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GatewayParts } from '../../gateway/gateway-parts.ts';
import { noCounts } from '../../gateway/metrics/gateway-counts.ts';
import { usualPace } from '../../gateway/pace.ts';
import { Sessions } from '../../gateway/session/sessions.ts';
import { startGateway } from '../../gateway/start-gateway.ts';
import { steadyClock } from '../../gateway/steady-clock.ts';
import { createAuthority, issueCvmCertificate, issueServerCertificate } from '../../infra/certificates/authority.ts';
import { systemClock } from '../../shared/clock.ts';
import { Deadline } from '../../shared/deadline.ts';
import { readRegistration } from '../../shared/cvms/hold-cvm.ts';
import { cvmKeys, type Key } from '../../shared/table/keys.ts';
import { openTable } from '../../shared/table/open-table.ts';
import { testPace } from '../support/gateway-pace.ts';
import { startGatewayStack, type GatewayStack } from '../support/gateway-stack.ts';

const hour = 60 * 60_000;
const noLogs = { write: () => true, end: () => undefined, close: () => Promise.resolve() };

let world: GatewayStack;
beforeAll(async () => {
  world = await startGatewayStack();
});
afterAll(() => world.stop());

describe('a gateway whose clock is set back by an hour', () => {
  it('goes on to ask its agents for their state', async () => {
    let setBack = 0;
    const authority = await createAuthority('set back');
    const gateway = await startGateway({
      port: 0,
      host: '127.0.0.1',
      tls: { ca: authority.certificate, ...(await issueServerCertificate(authority, ['localhost'])) },
      logs: noLogs,
      pace: testPace,
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
});

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

  it('is not forgotten until its events have found their run', async () => {
    let isBroken = true;
    const record = { run_id: 'run', computation_id: 'c' };
    const reported: string[] = [];
    const service = {
      agentRecord: () => (isBroken ? Promise.reject(new Error('The table is broken.')) : Promise.resolve(record)),
      report: (_: unknown, reports: { id: string }[]) => {
        reported.push(...reports.map(({ id }) => id));
        return Promise.resolve([]);
      },
      renewLease: () => Promise.resolve(),
      letters: () => Promise.resolve([]),
    };
    const pace = { ...usualPace, ...testPace };
    const shared = { id: 'gateway', clock: systemClock, wallClock: systemClock, counts: noCounts(), logs: noLogs, pace };
    const sessions = new Sessions({ ...shared, service } as unknown as GatewayParts, undefined);
    sessions.of({ domain: 'd1', cvmId: 'gone-1' }).takeEvent({
      event_type: 'Complete',
      status: 'Completed',
      computation_id: 'c',
      originator: 'agent',
      timestamp: null,
      details: Buffer.alloc(0),
    });
    sessions.tick();
    expect(sessions.all).toHaveLength(1);
    isBroken = false;
    await expect.poll(() => reported).toEqual(['state:Complete/Completed']);
    sessions.tick();
    expect(sessions.all).toHaveLength(0);
  });
});

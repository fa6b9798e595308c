import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { generateKeyPairSync } from 'node:crypto';
import type { Enrolment } from '../../../infra/local/cvm-gateway.ts';
import { freePort } from '../../../infra/local/free-port.ts';
import { oneOf } from '../../support/amounts.ts';
import { untilTestEnds } from '../../support/patience.ts';
import { SimulatedAgent } from '../../support/simulated-agent.ts';
import { callAs, readyComputation, type Call } from './ready-computation.ts';
import { killServices, startService, type ServiceProcess } from './service-process.ts';

let data: string;
let service: ServiceProcess;
const agents: SimulatedAgent[] = [];

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'resumed-'));
});
afterEach(() => {
  for (const agent of agents.splice(0)) agent.end();
  killServices();
  rmSync(data, { recursive: true, force: true, maxRetries: 5 });
});

const call: Call = (...request) => service.call(...request);

/** Calls the service as the CVMs of d1. */
const callAsCvm: Call = async (...request) => {
  const token = await call('POST', '/local/token', { sub: 'cvm', groups: ['d1:cvm'], expires_in: 3_600 });
  return await callAs(service.baseUrl, String(token.body['access_token']))(...request);
};

async function start(options: Parameters<typeof startService>[2] = {}): Promise<void> {
  service = await startService(['--data', data], ':', options);
  expect(service.output()).toContain('Ctrl-C');
}

async function killAndStart(): Promise<void> {
  await service.end('SIGKILL');
  await start();
}

async function startRun(cvm: string): Promise<{ computation: string; run: string }> {
  const computation = await readyComputation(call);
  const { status, body } = await call('POST', `/d1/computations/${computation}/run?cvm=${cvm}`);
  expect(status).toBe(200);
  return { computation, run: body as unknown as string };
}

const runOf = async (computation: string) => (await call('GET', `/d1/computations/${computation}/run`)).body;

async function untilRun(computation: string, status: string): Promise<Record<string, unknown>> {
  await vi.waitFor(async () => expect(await runOf(computation)).toMatchObject({ status }), untilTestEnds);
  return await runOf(computation);
}

async function untilCommand(cvm: string, type: string): Promise<string> {
  return await vi.waitFor(async () => {
    const { commands } = (await callAsCvm('GET', `/d1/cvms/${cvm}/commands`)).body as {
      commands: { id: string; type: string }[];
    };
    const command = commands.find((each) => each.type === type);
    expect(command).toBeDefined();
    return command?.id ?? '';
  }, untilTestEnds);
}

let reports = 0;
async function report(cvm: string, run_id: string, ...facts: Record<string, unknown>[]): Promise<string | null> {
  const body = { reports: facts.map((fact) => ({ id: `r-${++reports}`, run_id, ...fact })) };
  const answer = await callAsCvm('POST', `/d1/cvms/${cvm}/reports`, body);
  expect(answer.status).toBe(200);
  const { results } = answer.body as { results: { run_status: string | null }[] };
  return results.at(-1)?.run_status ?? null;
}

const complete = { type: 'event', event_type: 'Complete', status: 'Completed', details: '' };

async function eventsOf(computation: string): Promise<string[]> {
  const { events } = (await call('GET', `/d1/computations/${computation}/events?limit=100`)).body as {
    events: { event_type: string; status: string }[];
  };
  return events.map(({ event_type, status }) => `${event_type}/${status}`).reverse();
}

describe('a run whose service is killed and started again with --data', () => {
  it('is offered again if its CVM has not accepted it', async () => {
    await start();
    const { computation, run } = await startRun('cvm-1');
    await killAndStart();
    const command_id = await untilCommand('cvm-1', 'run');
    await report('cvm-1', run, { type: 'accepted', command_id });
    expect(await report('cvm-1', run, { type: 'heartbeat' })).toBe('running');
    await report('cvm-1', run, complete);
    await untilRun(computation, 'completed');
  });

  it('completes after several kills if its CVM has accepted it', async () => {
    await start();
    const { computation, run } = await startRun('cvm-1');
    await report('cvm-1', run, { type: 'accepted', command_id: await untilCommand('cvm-1', 'run') });
    for (let kill = 0; kill < 3; kill++) {
      await killAndStart();
      expect(await report('cvm-1', run, { type: 'heartbeat' })).toBe('running');
    }
    await report('cvm-1', run, complete);
    expect(await untilRun(computation, 'completed')).toMatchObject({ reason: 'The CVM finished the run.' });
  });

  it('is cancelled when its CVM confirms the stop that was requested before the kill', async () => {
    await start();
    const { computation, run } = await startRun('cvm-1');
    await report('cvm-1', run, { type: 'accepted', command_id: await untilCommand('cvm-1', 'run') });
    expect((await call('POST', `/d1/computations/${computation}/stop`)).status).toBe(200);
    await killAndStart();
    expect(await runOf(computation)).toMatchObject({ status: 'stopping' });
    await report('cvm-1', run, { type: 'accepted', command_id: await untilCommand('cvm-1', 'stop') });
    await report('cvm-1', run, { type: 'event', event_type: 'Stopped', status: 'Stopped', details: '' });
    expect(await untilRun(computation, 'cancelled')).toMatchObject({ reason: 'Stopped; the CVM confirmed it.' });
  });

  it('ends with the outcome that its CVM reported just before the kill', async () => {
    await start();
    const { computation, run } = await startRun('cvm-1');
    await report('cvm-1', run, { type: 'accepted', command_id: await untilCommand('cvm-1', 'run') }, complete);
    await killAndStart();
    await untilRun(computation, 'completed');
  });

  it.each(oneOf([0, 300, 700, 1_100, 1_500, 1_900, 2_300]))(
    'completes on a simulated CVM, each event once, if the kill comes after %d ms',
    async (milliseconds) => {
      await start({ simulator: true });
      const { computation } = await startRun('sim-1');
      await delay(milliseconds);
      await service.end('SIGKILL');
      await start({ simulator: true });
      await untilRun(computation, 'completed');
      const events = (await eventsOf(computation)).filter((event) => /^[A-Z]/.test(event));
      expect(events).toContain('ConsumingResults/Ready'); // ends the run: a CVM killed after it has nothing to take up again
      expect(events).toEqual([...new Set(events)]);
    },
  );

  it('completes on an agent that worked during the restart, and each event is recorded once', async () => {
    const environment = { GATEWAY_PORT: String(await freePort()) };
    await start({ environment });
    const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const public_key = keys.publicKey.export({ format: 'pem', type: 'spki' });
    const enrolment = (await call('POST', '/local/cvm', { domain: 'd1', cvm_id: 'real-1', public_key }))
      .body as unknown as Enrolment;
    await call('PUT', '/d1/cvms/real-1', { description: '', certificate: enrolment.certificate });
    const key = keys.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    const agent = new SimulatedAgent({ ...enrolment, key, cvmId: 'real-1', reconnectInMilliseconds: 500 });
    agents.push(agent);
    await vi.waitFor(async () => {
      expect((await call('GET', '/d1/cvms/real-1')).body['presence']).toMatchObject({ fit: 'ready' });
    }, untilTestEnds);
    const { computation } = await startRun('real-1');
    await vi.waitFor(() => expect(agent.state).toBe('ReceivingAlgorithm'), untilTestEnds);
    agent.upload();
    await vi.waitFor(async () => expect(await eventsOf(computation)).toContain('Running/InProgress'), untilTestEnds);
    await service.end('SIGKILL');
    agent.finish();
    await start({ environment });
    await untilRun(computation, 'completed');
    const events = (await eventsOf(computation)).filter((event) => /^[A-Z]/.test(event));
    expect(events).toEqual([...new Set(events)]);
    expect(events).toContain('ConsumingResults/Ready');
    expect(agent.requests).toHaveLength(1);
  });
});

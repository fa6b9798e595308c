import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { generateKeyPairSync } from 'node:crypto';
import type { Enrolment } from '../../local/cvms/cvm-gateway.ts';
import { killServices, ownPort, type ServiceProcess, startService } from '../support/service-process.ts';
import { amount, oneIn, oneOf } from '../support/amounts.ts';
import { untilTestEnds } from '../support/patience.ts';
import { SimulatedAgent } from '../support/simulated-agent.ts';
import { callAs, readyComputation, type Call } from '../support/ready-computation.ts';

beforeEach(oneIn(2));

let data: string;
let service: ServiceProcess;
const agents: SimulatedAgent[] = [];

function openDirectory(): void {
  data = mkdtempSync(join(tmpdir(), 'resumed-'));
}

function closeDirectory(): void {
  for (const agent of agents.splice(0)) agent.end();
  killServices();
  rmSync(data, { recursive: true, force: true, maxRetries: 5 });
}

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

interface StartedRun {
  computation: string;
  run: string;
}

async function startRun(cvm: string): Promise<StartedRun> {
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

const accept = async (cvm: string, run: string, ...facts: Record<string, unknown>[]) =>
  await report(cvm, run, { type: 'accepted', command_id: await untilCommand(cvm, 'run') }, ...facts);

describe('a run whose service is killed and started again with --data', () => {
  let offered: StartedRun;
  let accepted: StartedRun;
  let stopped: StartedRun;
  let finished: StartedRun;
  beforeAll(async () => {
    openDirectory();
    await start();
    offered = await startRun('cvm-offered');
    finished = await startRun('cvm-finished');
    await accept('cvm-finished', finished.run);
    accepted = await startRun('cvm-accepted');
    await accept('cvm-accepted', accepted.run);
    stopped = await startRun('cvm-stopped');
    await accept('cvm-stopped', stopped.run);
    // The tests come in the order of these time limits: 30 s for the stop, 60 s of silence, 120 s for the offer.
    await report('cvm-accepted', accepted.run, { type: 'heartbeat' });
    expect((await call('POST', `/d1/computations/${stopped.computation}/stop`)).status).toBe(200);
    await report('cvm-finished', finished.run, complete);
    await killAndStart();
  });
  afterAll(closeDirectory);

  it('is cancelled when its CVM confirms the stop that was requested before the kill', async () => {
    expect(await runOf(stopped.computation)).toMatchObject({ status: 'stopping' });
    await report('cvm-stopped', stopped.run, { type: 'accepted', command_id: await untilCommand('cvm-stopped', 'stop') });
    await report('cvm-stopped', stopped.run, { type: 'event', event_type: 'Stopped', status: 'Stopped', details: '' });
    expect(await untilRun(stopped.computation, 'cancelled')).toMatchObject({ reason: 'Stopped; the CVM confirmed it.' });
  });

  it('completes after several kills if its CVM has accepted it', async () => {
    expect(await report('cvm-accepted', accepted.run, { type: 'heartbeat' })).toBe('running');
    for (let kill = 0; kill < amount({ sample: 1, full: 2 }); kill++) {
      await killAndStart();
      expect(await report('cvm-accepted', accepted.run, { type: 'heartbeat' })).toBe('running');
    }
    await report('cvm-accepted', accepted.run, complete);
    expect(await untilRun(accepted.computation, 'completed')).toMatchObject({ reason: 'The CVM finished the run.' });
  });

  it('is offered again if its CVM has not accepted it', async () => {
    await accept('cvm-offered', offered.run);
    expect(await report('cvm-offered', offered.run, { type: 'heartbeat' })).toBe('running');
    await report('cvm-offered', offered.run, complete);
    await untilRun(offered.computation, 'completed');
  });

  it('ends with the outcome that its CVM reported just before the kill', async () => {
    await untilRun(finished.computation, 'completed');
  });
});

describe('a run at work whose service is killed and started again with --data', () => {
  beforeEach(openDirectory);
  afterEach(closeDirectory);

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
    const environment = { GATEWAY_PORT: String(await ownPort()) };
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

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { claimsOfSimulatedCvms } from '../../../local/cvms/simulated-cvms.ts';
import { startStack, type Stack } from '../../../local/stack.ts';
import { startSimulatedCvms } from '../../../packages/simulated-cvm/simulated-cvms.ts';
import type { Event } from '../../../shared/journal/journal.ts';
import { readClaim } from '../../../shared/rows/claim.ts';
import type { Run } from '../../../shared/rows/run.ts';
import { openTable } from '../../../shared/table/table.ts';
import { amount } from '../../support/amounts.ts';
import { patientDeadline } from '../../support/embedded-table.ts';
import { testClock } from '../../support/test-clock.ts';
import { untilTestEnds } from '../../support/patience.ts';
import { watchFunctions } from '../../support/recorded-calls.ts';
import { callAs, publicKey } from '../../support/ready-computation.ts';
import { repeating } from '../../support/repeating-call.ts';

const pace = { eventsInMilliseconds: 20, heartbeatInMilliseconds: 300, pollInMilliseconds: 20 };
/** Time limits that no run exceeds during a test. A stop ends before the CVM counts as silent. */
const times = { acceptInSeconds: 1_200, silenceInSeconds: 600, runInSeconds: 86_400, stopInSeconds: 300 };
/** The clock of the service. The CVMs are other machines with their own clock at real speed. */
const clock = testClock();
const functions = watchFunctions();
let stack: Stack;
let cvms: { stop: () => Promise<void> };
let token: string;
let algorithm: string;
let dataset: string;

beforeAll(async () => {
  stack = await startStack({
    port: 0,
    simulator: false,
    times,
    load: functions.load,
    clock,
    schedules: false,
  });
  token = await stack.token('alice', ['d1:administrator', 'd1:cvm']);
  cvms = startSimulatedCvms({
    baseUrl: stack.baseUrl,
    token: (domain) => stack.token('simulated-cvms', [`${domain}:cvm`]),
    listClaimedCvms: claimsOfSimulatedCvms(),
    pace,
  });
  algorithm = await createAsset('algorithm');
  dataset = await createAsset('dataset');
});

afterAll(async () => {
  await cvms.stop();
  await stack.stop();
});

async function call<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const answer = await repeating(callAs(stack.baseUrl, token))(method, `/d1${path}`, body);
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
  return answer.body as Answer;
}

async function createAsset(asset_type: string): Promise<string> {
  const asset = { file_name: asset_type, asset_type, asset: btoa(asset_type) };
  return (await call<{ id: string }>('POST', '/assets', { asset })).id;
}

/** Starts a new computation on a CVM. */
async function runOn(cvmId: string, options: { datasets: boolean } = { datasets: true }): Promise<string> {
  const { id } = await call<{ id: string }>('POST', '/computations', { name: cvmId });
  await call('POST', `/computations/${id}/key`, { key: publicKey() });
  for (const asset of [algorithm, ...(options.datasets ? [dataset] : [])]) await call('POST', `/assets/${asset}/${id}`);
  await call('POST', `/computations/${id}/run?cvm=${cvmId}`);
  return id;
}

const getCommands = async (cvm: string) =>
  (await call<{ commands: { type: string }[] }>('GET', `/cvms/${cvm}/commands`)).commands;

const runOf = (id: string) => call<Run>('GET', `/computations/${id}/run`);

/** Returns the outcome of the run and the CVM's events in order. */
async function courseOf(id: string): Promise<{ status: string; said: string[] }> {
  const { events } = await call<{ events: Event[] }>('GET', `/computations/${id}/events?limit=100`);
  const said = events.filter(({ originator }) => ['agent', 'computation-runner'].includes(originator)).reverse();
  return { status: (await runOf(id)).status, said: said.map((event) => `${event.event_type}/${event.status}`) };
}

const eventually = <Value>(read: () => Promise<Value>, expected: Value) =>
  vi.waitFor(async () => expect(await read()).toEqual(expected), untilTestEnds);

/** Waits until the run's execution waits for its CVM to finish: its limit for silence has started. */
const untilAwaited = (id: string, cvm_id: string) =>
  vi.waitFor(async () => {
    const run = { domain: 'd1', cvm_id, run_id: (await runOf(id)).id, computation_id: id };
    expect((await readClaim(openTable(patientDeadline), run))?.run_token).toBeDefined();
  }, untilTestEnds);

/** Moves the service's time while no lifecycle step is running. CVMs may be sending requests, which they repeat. */
async function lapse(seconds: number): Promise<void> {
  await functions.untilIdle('lifecycle/');
  clock.move(seconds * 1_000);
}

const upToWork = ['ReceivingAlgorithm/InProgress', 'ReceivingData/InProgress', 'Running/Starting', 'Running/InProgress'];
const completed = ['Running/Completed', 'ConsumingResults/Ready', 'Complete/Completed'];

describe.concurrent('a simulated CVM', () => {
  it("of any other name completes its run through the agent's sequence of events", async () => {
    const id = await runOn('cvm-of-any-name');
    await eventually(() => courseOf(id), { status: 'completed', said: [...upToWork, ...completed] });
  });

  it('reports no receipt of data for a computation without datasets', async () => {
    const id = await runOn('sim-without-data', { datasets: false });
    const said = [...upToWork.filter((event) => event !== 'ReceivingData/InProgress'), ...completed];
    await eventually(() => courseOf(id), { status: 'completed', said });
  });

  it('sends the time of its own clock with an event', async () => {
    const id = await runOn('sim-clock');
    await eventually(async () => (await runOf(id)).status, 'completed');
    const { events } = await call<{ events: Event[] }>('GET', `/computations/${id}/events?event_type=ReceivingAlgorithm`);
    expect(JSON.parse(atob(events[0]?.details ?? ''))).toEqual({ occurred_at: expect.stringMatching(/^\d{4}-.*Z$/) });
  });

  it('named sim-fail- fails its run', async () => {
    const id = await runOn('sim-fail-1');
    const said = [...upToWork, 'AlgorithmRun/Warning', 'Running/Failed', 'Failed/Failed'];
    await eventually(() => courseOf(id), { status: 'failed', said });
  });

  it('named sim-reject- rejects its run', async () => {
    const id = await runOn('sim-reject-1');
    await eventually(() => courseOf(id), { status: 'failed', said: [] });
    expect((await runOf(id)).reason).toBe('The CVM rejected the run: This simulated CVM rejects every run.');
  });

  it('named sim-slow- confirms a stop while its algorithm is at work', async () => {
    const id = await runOn('sim-slow-1');
    await eventually(() => courseOf(id), { status: 'running', said: upToWork });
    await call('POST', `/computations/${id}/stop`);
    const said = [...upToWork, 'Stopped/Stopped', 'Running/Failed'];
    await eventually(() => courseOf(id), { status: 'cancelled', said });
    expect((await runOf(id)).reason).toBe('Stopped; the CVM confirmed it.');
  });
});

describe('a simulated CVM, after some time', () => {
  it('named sim-silent- has fallen silent after its first event, and its run fails', async () => {
    const id = await runOn('sim-silent-1');
    await eventually(() => courseOf(id), { status: 'running', said: ['ReceivingAlgorithm/InProgress'] });
    await untilAwaited(id, 'sim-silent-1');
    await lapse(times.silenceInSeconds);
    await eventually(() => courseOf(id), { status: 'failed', said: ['ReceivingAlgorithm/InProgress'] });
    expect((await runOf(id)).reason).toBe('The CVM fell silent.');
  });

  it('named sim-absent- has never asked for work, and its run fails', async () => {
    const id = await runOn('sim-absent-1');
    const offered = async () => (await getCommands('sim-absent-1')).length;
    await eventually(offered, 1);
    await lapse(times.acceptInSeconds);
    await eventually(() => courseOf(id), { status: 'failed', said: [] });
    expect((await runOf(id)).reason).toBe('No CVM accepted the run in time.');
  });

  it('named sim-slow- has stayed alive by heartbeats', async () => {
    const id = await runOn('sim-slow-2');
    await eventually(() => courseOf(id), { status: 'running', said: upToWork });
    await untilAwaited(id, 'sim-slow-2');
    for (let lapsed = 0; lapsed < 2 * times.silenceInSeconds; lapsed += times.silenceInSeconds / 2) {
      await lapse(times.silenceInSeconds / 2);
      const { begun } = functions.invocationsOf('cvms/report');
      await vi.waitFor(() => expect(functions.invocationsOf('cvms/report').ended).toBeGreaterThan(begun), untilTestEnds);
      expect((await runOf(id)).status).toBe('running');
    }
    await call('POST', `/computations/${id}/stop`);
    await eventually(async () => (await runOf(id)).status, 'cancelled');
  });

  it('named sim-ignore-stop- has ignored a stop, and takes the next run', async () => {
    const id = await runOn('sim-ignore-stop-1');
    await eventually(() => courseOf(id), { status: 'running', said: upToWork });
    await call('POST', `/computations/${id}/stop`);
    const offered = async () => (await getCommands('sim-ignore-stop-1')).map(({ type }) => type);
    await eventually(offered, ['stop']);
    await lapse(times.stopInSeconds);
    await eventually(() => courseOf(id), { status: 'cancelled', said: upToWork });
    expect((await runOf(id)).reason).toBe('Stopped; no CVM confirmed it in time.');
    const next = await runOn('sim-ignore-stop-1');
    await eventually(() => courseOf(next), { status: 'running', said: upToWork });
  });
});

describe('a CVM that is registered without a certificate and asks for commands', () => {
  it('is the only one that answers to its runs', async () => {
    await call('PUT', '/cvms/own-1', { description: '' });
    await getCommands('own-1');
    const id = await runOn('own-1');
    const other = await runOn('sim-beside-it'); // by its end, a simulated own-1 would have said something as well
    await eventually(async () => (await runOf(other)).status, 'completed');
    expect(await getCommands('own-1')).toMatchObject([{ type: 'run' }]);
    expect(await courseOf(id)).toEqual({ status: 'running', said: [] });
  });
});

describe('startSimulatedCvms', () => {
  const count = amount({ sample: 8, full: 30 });
  it(`serves ${count} runs at the same time`, async () => {
    const ids = await Promise.all(Array.from({ length: count }, (_, index) => runOn(`sim-${index}`)));
    for (const id of ids) await eventually(async () => (await runOf(id)).status, 'completed');
  });
});

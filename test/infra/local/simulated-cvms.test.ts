import { Deadline } from '../../../shared/deadline.ts';
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startSimulatedCvms } from '../../../infra/local/simulated-cvms.ts';
import { startStack, type Stack } from '../../../infra/local/stack.ts';
import type { Event } from '../../../shared/events/event.ts';
import { readClaims } from '../../../shared/runs/claim.ts';
import type { Run } from '../../../shared/computations/run.ts';
import { openTable } from '../../../shared/table/open-table.ts';

const pace = { eventsInMilliseconds: 20, heartbeatInMilliseconds: 300, pollInMilliseconds: 20 };
let stack: Stack;
let cvms: { stop: () => Promise<void> };
let authorization: string;
let algorithm: string;
let dataset: string;

beforeAll(async () => {
  stack = await startStack({
    port: 0,
    simulator: false,
    times: { acceptInSeconds: 3, silenceInSeconds: 2, runInSeconds: 60, stopInSeconds: 2 },
  });
  authorization = `Bearer ${await stack.token('alice', ['d1:administrator'])}`;
  cvms = startSimulatedCvms({
    baseUrl: stack.baseUrl,
    token: (domain) => stack.token('simulated-cvms', [`${domain}:cvm`]),
    listClaimedCvms: () => readClaims(openTable(() => new Deadline())),
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
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${stack.baseUrl}/d1${path}`, {
    method,
    headers: { authorization, 'content-type': 'application/json' },
    ...init,
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Answer;
}

async function createAsset(asset_type: string): Promise<string> {
  const asset = { file_name: asset_type, asset_type, asset: btoa(asset_type) };
  return (await call<{ id: string }>('POST', '/assets', { asset })).id;
}

/** Starts a computation of its own on a CVM. */
async function runOn(cvmId: string, options: { datasets: boolean } = { datasets: true }): Promise<string> {
  const { id } = await call<{ id: string }>('POST', '/computations', { name: cvmId });
  const key = generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' });
  await call('POST', `/computations/${id}/key`, { key: key.toString('base64') });
  for (const asset of [algorithm, ...(options.datasets ? [dataset] : [])]) await call('POST', `/assets/${asset}/${id}`);
  await call('POST', `/computations/${id}/run?cvm=${cvmId}`);
  return id;
}

const runOf = (id: string) => call<Run>('GET', `/computations/${id}/run`);

/** How the run went: its end, and what the CVM said, in order. */
async function courseOf(id: string): Promise<{ status: string; said: string[] }> {
  const { events } = await call<{ events: Event[] }>('GET', `/computations/${id}/events?limit=100`);
  const said = events.filter(({ originator }) => ['agent', 'computation-runner'].includes(originator)).reverse();
  return { status: (await runOf(id)).status, said: said.map((event) => `${event.event_type}/${event.status}`) };
}

const eventually = <Value>(read: () => Promise<Value>, expected: Value) =>
  vi.waitFor(async () => expect(await read()).toEqual(expected), { timeout: 10_000, interval: 50 });

const upToWork = ['ReceivingAlgorithm/InProgress', 'ReceivingData/InProgress', 'Running/Starting', 'Running/InProgress'];
const completed = ['Running/Completed', 'ConsumingResults/Ready', 'Complete/Completed'];

describe.concurrent('startSimulatedCvms', () => {
  it("completes any run through the agent's sequence of events", async () => {
    const id = await runOn('cvm-of-any-name');
    await eventually(() => courseOf(id), { status: 'completed', said: [...upToWork, ...completed] });
  });

  it('receives no data where there are no datasets', async () => {
    const id = await runOn('sim-without-data', { datasets: false });
    const said = [...upToWork.filter((event) => event !== 'ReceivingData/InProgress'), ...completed];
    await eventually(() => courseOf(id), { status: 'completed', said });
  });

  it("records the agent's own clock with an event", async () => {
    const id = await runOn('sim-clock');
    await eventually(async () => (await runOf(id)).status, 'completed');
    const { events } = await call<{ events: Event[] }>('GET', `/computations/${id}/events?event_type=ReceivingAlgorithm`);
    expect(JSON.parse(atob(events[0]?.details ?? ''))).toEqual({ occurred_at: expect.stringMatching(/^\d{4}-.*Z$/) });
  });

  it('fails for sim-fail-', async () => {
    const id = await runOn('sim-fail-1');
    const said = [...upToWork, 'AlgorithmRun/Warning', 'Running/Failed', 'Failed/Failed'];
    await eventually(() => courseOf(id), { status: 'failed', said });
  });

  it('rejects the run for sim-reject-', async () => {
    const id = await runOn('sim-reject-1');
    await eventually(() => courseOf(id), { status: 'failed', said: [] });
    expect((await runOf(id)).reason).toBe('The CVM rejected the run: This simulated CVM rejects every run.');
  });

  it('falls silent after the first event for sim-silent-', async () => {
    const id = await runOn('sim-silent-1');
    await eventually(() => courseOf(id), { status: 'failed', said: ['ReceivingAlgorithm/InProgress'] });
    expect((await runOf(id)).reason).toBe('The CVM fell silent.');
  });

  it('never asks for work for sim-absent-', async () => {
    const id = await runOn('sim-absent-1');
    await eventually(() => courseOf(id), { status: 'failed', said: [] });
    expect((await runOf(id)).reason).toBe('No CVM accepted the run in time.');
  });

  it('stays alive by heartbeats and confirms a stop for sim-slow-', async () => {
    const id = await runOn('sim-slow-1');
    await eventually(() => courseOf(id), { status: 'running', said: upToWork });
    const beyondSilence = Date.now() + 2_500;
    while (Date.now() < beyondSilence) expect((await runOf(id)).status).toBe('running');
    await call('POST', `/computations/${id}/stop`);
    const said = [...upToWork, 'Stopped/Stopped', 'Running/Failed'];
    await eventually(() => courseOf(id), { status: 'cancelled', said });
    expect((await runOf(id)).reason).toBe('Stopped; the CVM confirmed it.');
  });

  it('ignores a stop for sim-ignore-stop-, and takes the next run all the same', async () => {
    const id = await runOn('sim-ignore-stop-1');
    await eventually(() => courseOf(id), { status: 'running', said: upToWork });
    await call('POST', `/computations/${id}/stop`);
    await eventually(() => courseOf(id), { status: 'cancelled', said: upToWork });
    expect((await runOf(id)).reason).toBe('Stopped; no CVM confirmed it in time.');
    const next = await runOn('sim-ignore-stop-1');
    await eventually(() => courseOf(next), { status: 'running', said: upToWork });
  });

  it('serves many runs at once', async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, (_, index) => runOn(`sim-${index}`)));
    for (const id of ids) await eventually(async () => (await runOf(id)).status, 'completed');
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readLog } from 'computation-management-client';
import { checkpointIn, readEntries } from 'computation-management-transparency-log';
import { followLog, logOfEvidence } from 'computation-management-verify';
import { expect, it, onTestFinished } from 'vitest';
import { startStack } from '../../local/stack.ts';
import { untilTestEnds } from '../support/patience.ts';
import { callAs, readyComputation } from '../support/ready-computation.ts';

interface Todo {
  keys: { name: string }[];
  totals: { keys: number };
  as_of: string;
}

/** Returns a function that starts a service on a directory of its own. One without schedules follows nothing, and so ends as if it were killed. */
function newDataDirectory() {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'followed-'));
  onTestFinished(() => rmSync(dataDirectory, { recursive: true }));
  return async (schedules: boolean) => {
    const { baseUrl, stop, token } = await startStack({ port: 0, simulator: false, schedules, dataDirectory });
    return { baseUrl, stop, call: callAs(baseUrl, await token('alice', ['d1:administrator', 'd1:cvm'])) };
  };
}

it('changes that were not followed before the service ended are in the open tasks after the next start, and deleted ones not', async () => {
  const startOnData = newDataDirectory();
  const start = async (schedules: boolean) => {
    const stack = await startOnData(schedules);
    const { call } = stack;
    const todo = async () => (await call('GET', '/d1/todo')).body as unknown as Todo;
    const named = async () => (await todo()).keys.map(({ name }) => name);
    const create = async (name: string) => String((await call('POST', '/d1/computations', { name })).body['id']);
    return { stop: stack.stop, call, todo, named, create };
  };
  const first = await start(true);
  const id = await first.create('Followed');
  await expect.poll(first.named, untilTestEnds).toEqual(['Followed']);
  expect(Date.now() - Date.parse((await first.todo()).as_of)).toBeLessThan(60_000);
  await first.stop();

  const killed = await start(false);
  await killed.create('Not followed');
  await killed.call('DELETE', `/d1/computations/${id}`);
  await killed.stop();

  const again = await start(true);
  await expect.poll(again.named, untilTestEnds).toEqual(['Not followed']);
  expect((await again.todo()).totals).toMatchObject({ keys: 1 });
  await again.stop();
});

it('the log goes on at the next start, with the entries that waited, and the evidence of before stays the same', async () => {
  const startOnData = newDataDirectory();
  const startRun = async ({ call }: Awaited<ReturnType<typeof startOnData>>, cvm: string) => {
    const id = await readyComputation(call);
    const run = (await call('POST', `/d1/computations/${id}/run?cvm=${cvm}`)).body as unknown as string;
    return `/d1/computations/${id}/evidence?run=${run}`;
  };
  const reject = async ({ call }: Awaited<ReturnType<typeof startOnData>>, cvm: string) => {
    const { commands } = (await call('GET', `/d1/cvms/${cvm}/commands?wait=20`)).body as {
      commands: { id: string; run_id: string }[];
    };
    const [{ id: command_id, run_id } = { id: '', run_id: '' }] = commands;
    await call('POST', `/d1/cvms/${cvm}/reports`, { reports: [{ id: cvm, type: 'rejected', run_id, command_id, reason: 'no' }] });
  };
  const read = async ({ baseUrl }: { baseUrl: string }) => {
    const bytes = await readLog('checkpoint', { baseUrl });
    const checkpoint = new TextDecoder().decode(bytes);
    return { checkpoint, size: bytes ? checkpointIn(checkpoint).size : 0 };
  };

  const first = await startOnData(true);
  const path = await startRun(first, 'cvm-1');
  await reject(first, 'cvm-1');
  await expect.poll(async () => (await first.call('GET', path)).status, untilTestEnds).toBe(200);
  const evidence = (await first.call('GET', path)).body;
  const { log } = await logOfEvidence(JSON.stringify(evidence));
  await first.stop();

  const killed = await startOnData(false);
  await startRun(killed, 'cvm-2');
  expect((await read(killed)).size).toBe(2);
  await killed.stop();

  const again = await startOnData(true);
  await expect.poll(async () => (await read(again)).size, untilTestEnds).toBe(3);
  const { baseUrl } = again;
  const readTile = (tile: string) => readLog(tile, { baseUrl });
  await followLog([log], (await read(again)).checkpoint, readTile);
  const entries = await readEntries(0, 3, 3, readTile);
  expect(new Set(entries.map((entry) => Buffer.from(entry.subarray(0, 32)).toString('hex'))).size).toBe(3);
  expect((await again.call('GET', path)).body).toEqual(evidence);
  await again.stop();
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startStack } from '../../local/stack.ts';
import { callAs, readyComputation } from '../support/ready-computation.ts';
import { repeating } from '../support/repeating-call.ts';

async function startService() {
  const stack = await startStack({ port: 0, simulator: true });
  onTestFinished(stack.stop);
  return { stack, call: repeating(callAs(stack.baseUrl, await stack.token('alice', ['d1:administrator']))) };
}

it('services of a process run one after the other, each with its own table, storage, executions and keys', async () => {
  const first = await startService();
  const id = await readyComputation(first.call);
  await expect(startStack({ port: 0, simulator: false })).rejects.toThrow(
    'Another service of this process has not been stopped.',
  );
  await first.stack.stop();

  const { call } = await startService();
  expect((await call('GET', `/d1/computations/${id}`)).status).toBe(404);
  const other = await readyComputation(call);
  const run = (await call('POST', `/d1/computations/${other}/run?cvm=sim-1`)).body as unknown as string;
  const signed = async () => (await call('GET', `/d1/computations/${other}/evidence?run=${run}`)).status;
  await expect.poll(signed).toBe(200);
  const { keys } = (await call('GET', '/.well-known/jwks.json')).body as { keys: unknown[] };
  expect(keys).toHaveLength(1);
});

it.each([true, false])('data with verdicts by test keys (%s) is used with no other roots', async (testEvidence) => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'roots-'));
  onTestFinished(() => rmSync(dataDirectory, { recursive: true }));
  const given = { port: 0, simulator: false, schedules: false, dataDirectory };
  for (const _ of ['first', 'again']) await (await startStack({ ...given, testEvidence })).stop();
  const made = testEvidence ? 'with' : 'without';
  await expect(startStack({ ...given, testEvidence: !testEvidence })).rejects.toThrow(
    `The data was made ${made} --test-evidence. Start ${made} it, or choose another directory.`,
  );
});

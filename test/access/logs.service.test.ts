import { randomUUID } from 'node:crypto';
import { numberedId } from 'computation-management-formats/identifiers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startStack, type Stack } from '../../local/stack.ts';
import { callAs, readyComputation, type Call } from '../support/ready-computation.ts';
import { untilTestEnds } from '../support/patience.ts';

const written: string[] = [];
let stack: Stack;
let token: string;
let call: Call;
beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: false, logLevel: 'DEBUG' });
  token = await stack.token('alice', ['d1:administrator', 'd1:cvm']);
  call = callAs(stack.baseUrl, token);
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    written.push(String(chunk));
    return true;
  });
});
afterAll(async () => {
  vi.restoreAllMocks();
  await stack.stop();
});

const [privateKey, content, key] = [`PRIVATE ${randomUUID()}`, btoa(`CONTENT ${randomUUID()}`), `key-${randomUUID()}`];
const agent_config = { cert_file: 'c', server_key: privateKey };

/** A run with a private key and content, repeated and refused requests, and errors that quote what was sent. */
async function liveThroughIt(): Promise<void> {
  const id = await readyComputation(call);
  const path = `/d1/computations/${id}`;
  expect((await call('PUT', path, { name: 'Iris', agent_config })).status).toBe(200);
  const asset = { file_name: 'secret.csv', asset_type: 'dataset', asset: content };
  for (let time = 1; time <= 2; time++) {
    expect((await call('POST', '/d1/assets', { asset }, { 'idempotency-key': key })).status).toBe(201);
  }
  expect((await call('POST', '/d1/assets', { asset: { ...asset, asset: `${content}!` } })).status).toBe(400);
  expect((await call('PUT', path, { name: 5, agent_config: { ...agent_config, server_key: [privateKey] } })).status).toBe(400);
  const { body: run } = await call('POST', `${path}/run?cvm=${id}`);
  const commands = async () => (await call('GET', `/d1/cvms/${id}/commands`)).body['commands'] as { id: string }[];
  await vi.waitUntil(async () => (await commands()).length > 0, untilTestEnds);
  const end = { id: '1', run_id: run, type: 'event', event_type: 'Complete', status: 'Completed', details: content };
  expect((await call('POST', `/d1/cvms/${id}/reports`, { reports: [end] })).status).toBe(200);
  const isOver = async () => (await call('GET', path)).body['status'] === 'completed';
  await vi.waitUntil(isOver, untilTestEnds);
}

describe('the logs', () => {
  it('have the request id of each of 30 requests at once with what that request was about', async () => {
    const ids = Array.from({ length: 30 }, (_, index) => numberedId(1_000 + index)); // each takes a read to be found missing
    const answers = await Promise.all(ids.map((id) => call('GET', `/d1/computations/${id}`)));
    const requestIds = answers.map(({ body }) => String(body['request_id']));
    expect(new Set(requestIds).size).toBe(30);
    const entries = written.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : []));
    const logged = ids.map((id) => entries.filter((entry) => entry['computation_id'] === id).map((entry) => entry['request_id']));
    expect(logged).toEqual(requestIds.map((id) => [id]));
  });

  it('contain no token, private key, content or Idempotency-Key', async () => {
    await liveThroughIt();
    const log = written.join('');
    expect(log).toContain('computations/update-computation');
    for (const secret of [token, token.split('.')[2] ?? token, privateKey, content, atob(content), key]) {
      expect(log).not.toContain(secret);
    }
    expect(log).not.toContain('X-Amz-Signature');
  });
});

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { acceptClient } from '../../../infra/accept/accept-client.ts';
import { checkConflicts } from '../../../infra/accept/check-conflicts.ts';
import { checkTaskToken } from '../../../infra/accept/check-task-token.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';

let server: Server | undefined;
afterEach(() => server?.close());

/** An API that answers these statuses, one after another, and the last one ever after. */
async function apiThatAnswers(...statuses: [number, ...number[]]) {
  let calls = 0;
  server = createServer((request, response) => {
    const status = statuses[Math.min(calls, statuses.length - 1)] ?? 0;
    calls += 1;
    request.resume();
    response.writeHead(status, { 'content-type': 'application/problem+json' });
    response.end(JSON.stringify({ status, title: 'refused', detail: 'refused' }));
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const client = acceptClient({ url: `http://127.0.0.1:${port}`, domain: 'd1', token: 'token' });
  return { client, calls: () => calls };
}

describe('a check of the acceptance', () => {
  it('of conflicts repeats a 429, and tells which other answer kept it from making its computation', async () => {
    const { client, calls } = await apiThatAnswers(429, 503);
    expect(await checkConflicts(client, 1)).toMatchObject({ measured: 'no computation was made: 503', holds: false });
    expect(calls()).toBe(2);
  });

  it('of task tokens repeats a 429, and tells which other answer kept it from preparing its run', async () => {
    const { client, calls } = await apiThatAnswers(429, 503);
    const { table, stop } = await startEmbeddedTable();
    const finding = await checkTaskToken(client, table, 'd1');
    await stop();
    expect(finding).toMatchObject({ measured: 'no run could be prepared: createComputation 503', holds: false });
    expect(calls()).toBe(2);
  });
});

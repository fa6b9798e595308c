import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { deflateRawSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { filesHolding } from '../support/suite-state.ts';
import { untilTestEnds } from '../support/patience.ts';
import { callAs, readyComputation } from '../support/ready-computation.ts';
import { enginesOf, isAlive, killServices, startService } from '../support/service-process.ts';

let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'keys-'));
});
afterEach(() => {
  killServices();
  rmSync(data, { recursive: true, force: true, maxRetries: 5 });
});

/** The bodies that were sent: kept answers are deflated with them. */
let bodies: Buffer[] = [];
const filesWith = (secret: string) => filesHolding(data, secret, bodies);

/** Adds a value to the file of the table. */
function plant(value: string): void {
  const database = new DatabaseSync(join(data, 'dynamodb.sqlite'));
  database.exec('CREATE TABLE planted (value TEXT)');
  database.prepare('INSERT INTO planted VALUES (?)').run(value);
  database.close();
}

it('an agent’s private key is in no file and no log in plain text or compressed, after changes, repeats, a run and a kill', async () => {
  const secrets = ['FIRST-PRIVATE-KEY-OF-THE-AGENT', 'SECOND-PRIVATE-KEY-OF-THE-AGENT'] as const;
  const [first, second] = secrets;
  const service = await startService(['--data', data], ':', { environment: { LOG_LEVEL: 'DEBUG' } });
  const { call, baseUrl } = service;
  const granted = await fetch(`${baseUrl}/local/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sub: 'a-cvm', groups: ['d1:cvm'] }),
  });
  const asCvm = callAs(baseUrl, ((await granted.json()) as { access_token: string }).access_token);
  const withKey = (server_key: string) => ({ name: 'Iris', agent_config: { cert_file: 'the certificate', server_key } });
  bodies = secrets.map((key) => Buffer.from(JSON.stringify(withKey(key))));
  for (const _ of ['request', 'repeat']) {
    const { status } = await call('POST', '/d1/computations', withKey(first), { 'idempotency-key': 'create' });
    expect(status).toBe(201);
  }
  const id = await readyComputation(call);
  for (const key of [first, second, second])
    await call('PUT', `/d1/computations/${id}`, withKey(key), { 'idempotency-key': key });
  expect((await call('GET', `/d1/computations/${id}`)).body).toMatchObject({ agent_config: { server_key: second } });

  const { status, body: runId } = await call('POST', `/d1/computations/${id}/run?cvm=cvm-1`);
  expect(status).toBe(200);
  const command = await vi.waitFor(async () => {
    const { commands } = (await asCvm('GET', '/d1/cvms/cvm-1/commands')).body as { commands: Record<string, unknown>[] };
    expect(commands).toMatchObject([{ agent_config: { server_key: second } }]);
    return commands[0];
  }, untilTestEnds);
  expect(secrets.flatMap(filesWith)).toEqual([]);

  const report = { run_id: runId, type: 'accepted', command_id: command?.['id'] };
  await asCvm('POST', '/d1/cvms/cvm-1/reports', { reports: [{ id: randomUUID(), ...report }] });
  const engines = enginesOf(service);
  await service.end('SIGKILL');
  await expect.poll(() => engines.filter(isAlive)).toEqual([]); // they remove files when they end
  expect(secrets.flatMap(filesWith)).toEqual([]);
  for (const secret of secrets) expect(service.output()).not.toContain(secret);
  expect(filesWith('the certificate')).not.toEqual([]); // what is not secret is found
  expect(filesWith('"relations":{')).not.toEqual([]); // also in a kept answer, which is deflated

  const filler = randomBytes(6_000).toString('hex'); // longer than a page of the file
  plant(JSON.stringify({ answer: { B: deflateRawSync(JSON.stringify([filler, first])).toString('base64') } }));
  expect(filesWith(first)).toEqual([join(data, 'dynamodb.sqlite')]);
});

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testRoot } from 'computation-management-simulated-cvm';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startStack, type Stack } from '../../local/stack.ts';
import { cvmBody } from '../../shared/openapi/examples.ts';
import { cmsIn } from '../packages/cms/fake-terminal.ts';
import { untilTestEnds } from '../support/patience.ts';
import { callAs, readyComputation, type Call } from '../support/ready-computation.ts';
import { repeating } from '../support/repeating-call.ts';

let folder: string;
let stack: Stack;
let alice: Call;

async function start() {
  stack = await startStack({ port: 0, simulator: true, testEvidence: true, cvmGateway: { port: 0 }, dataDirectory: folder });
  alice = repeating(callAs(stack.baseUrl, await stack.token('alice', ['d1:administrator'])));
}
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'attested-cvms-'));
  await start();
});
afterEach(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true });
});

const policy = { platforms: ['snp'], measurements: ['ab'.repeat(48)] };
const register = (cvm: string, body: object = { description: '' }) => alice('PUT', `/d1/cvms/${cvm}`, body);
const read = async (cvm: string) => (await alice('GET', `/d1/cvms/${cvm}`)).body;
const untilAttested = (cvm: string) =>
  expect
    .poll(() => read(cvm), untilTestEnds)
    .toMatchObject({ attestation: { verdict: 'verified', platform: 'snp' }, presence: { state: 'connected', fit: 'ready' } });
const runOf = async (id: string) => (await alice('GET', `/d1/computations/${id}/run`)).body;
async function startRun(cvm: string): Promise<string> {
  const id = await readyComputation(alice);
  await alice('PUT', `/d1/computations/${id}`, { name: 'Iris', attestation_policy: policy });
  expect(await alice('POST', `/d1/computations/${id}/run?cvm=${cvm}`)).toMatchObject({ status: 200 });
  return id;
}

it('a simulated CVM that is registered without a certificate gets one of its own, attests, and takes one run after the other', async () => {
  expect(await register('sim-attested-1')).toMatchObject({
    body: { certificate_fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) },
  });
  const guests = new Set();
  for (const _ of ['first', 'second']) {
    await untilAttested('sim-attested-1');
    guests.add(((await read('sim-attested-1'))['attestation'] as { token_hash: string }).token_hash);
    const id = await startRun('sim-attested-1');
    await expect.poll(() => runOf(id), untilTestEnds).toMatchObject({ status: 'completed' });
  }
  expect(guests.size).toBe(2);
});

it('others judge again the evidence of a run on a simulated CVM that attests, by its test root', async () => {
  await register('sim-attested-1');
  await untilAttested('sim-attested-1');
  expect((await read('sim-attested-1'))['attestation']).toMatchObject({
    checks: expect.arrayContaining([expect.objectContaining({ name: 'test_root', passed: true })]),
  });
  const id = await startRun('sim-attested-1');
  await expect.poll(() => runOf(id), untilTestEnds).toMatchObject({ status: 'completed' });
  const { body: found } = await alice('GET', `/d1/computations/${id}/attestation`);
  const [{ hash, download }] = found['tokens'] as [{ hash: string; download: { url: string } }];
  expect(found).toMatchObject({ run_id: (await runOf(id))['id'], verdict: 'verified' });
  const [{ certificate: pem }] = JSON.parse(readFileSync(join(folder, 'attested-cvms.json'), 'utf8')) as [
    { certificate: string },
  ];
  const [token, certificate, root] = ['token', 'cvm.pem', 'root.pem'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(token, Buffer.from(await (await fetch(download.url)).arrayBuffer()));
  writeFileSync(certificate, pem);
  writeFileSync(root, testRoot());
  const cms = cmsIn(folder, { env: { CMS_SERVER: stack.baseUrl } });
  await cms('login', '--local', '--user', 'alice', '--domain', 'd1');
  const judged = { exitCode: 0, stdout: expect.stringMatching(/verified: snp, measurement (ab){48}/) };
  expect(await cms('attest', token, '--bound-to', certificate, '--root', root)).toMatchObject(judged);
  const unbound = { exitCode: 14, stdout: expect.stringMatching(/genuine, bound to nothing: snp, measurement (ab){48}/) };
  expect(await cms('attest', token, '--root', root)).toMatchObject(unbound);
  const untrusted = { exitCode: 12, stdout: expect.stringContaining('FAILED  certificate_chain') };
  expect(await cms('attest', token, '--bound-to', certificate)).toMatchObject(untrusted);
  const evidence = join(folder, 'evidence');
  expect(await cms('evidence', id, '--output', evidence)).toMatchObject({ exitCode: 0 });
  expect(await cms('verify', evidence, '--root', root)).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(new RegExp(`HOLDS +The token "${hash}" is verified[^]*satisfies the attestation policy`)),
  });
});

it('a simulated CVM that attests obeys a stop', async () => {
  await register('sim-attested-1');
  await untilAttested('sim-attested-1');
  const id = await startRun('sim-attested-1');
  await expect.poll(() => runOf(id), untilTestEnds).toMatchObject({ status: 'running' });
  await alice('POST', `/d1/computations/${id}/stop`);
  await expect
    .poll(() => runOf(id), untilTestEnds)
    .toMatchObject({ status: 'cancelled', reason: 'Stopped; the CVM confirmed it.' });
});

it('a simulated CVM that attests keeps its certificate when the service starts again, and another one is left alone', async () => {
  const { body: registered } = await register('sim-attested-1');
  const { body: own } = await register('sim-attested-2', cvmBody);
  await stack.stop();
  await start();
  await untilAttested('sim-attested-1');
  await register('sim-attested-1', { description: 'Rack 4' });
  expect(await read('sim-attested-1')).toMatchObject({
    description: 'Rack 4',
    certificate_fingerprint: registered['certificate_fingerprint'],
  });
  await register('sim-attested-2', { description: 'Rack 5' });
  expect(await read('sim-attested-2')).toMatchObject({
    certificate_fingerprint: own['certificate_fingerprint'],
    attestation: null,
  });
});

import { createHash } from 'node:crypto';
import { checkEvidence } from 'computation-management-verify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startStack, type Stack } from '../../local/stack.ts';
import { rootsOfMakers } from '../../shared/cvms/verify-reported-token.ts';
import { cvmBody } from '../../shared/openapi/examples.ts';
import { replaceClient } from '../../shared/runtime/clients.ts';
import { coseOf, forgeSnp, messageOf, type SnpChange } from '../packages/attestation/forge-snp.ts';
import { untilTestEnds } from '../support/patience.ts';
import { callAs, readyComputation, type Call } from '../support/ready-computation.ts';

let stack: Stack;
let alice: Call;
let cvm: Call;
beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: false });
  alice = callAs(stack.baseUrl, await stack.token('alice', ['d1:administrator']));
  cvm = callAs(stack.baseUrl, await stack.token('cvm', ['d1:cvm']));
  replaceClient(rootsOfMakers, { roots: forgeSnp().options.roots ?? [] });
});
afterAll(() => stack.stop());

const certificateHash = createHash('sha512').update(cvmBody.certificate).digest();
const policy = { platforms: ['snp'], measurements: ['ab'.repeat(48)] };

/** A token of a machine of the test keys, whose report is bound to the certificate of the CVM. */
function tokenOf(change: (report: Buffer) => void = () => undefined, more: SnpChange = {}): string {
  const report = (bytes: Buffer) => {
    certificateHash.copy(bytes, 0x50);
    change(bytes);
  };
  const forged = forgeSnp({ ...more, report });
  const raw_report = messageOf(forged.report, forged.certificates);
  return Buffer.from(coseOf({ platform_type: 'SNP', raw_report })).toString('base64');
}

const hashOf = (token: string) => createHash('sha256').update(Buffer.from(token, 'base64')).digest('hex');
let cvms = 0;
async function registered(): Promise<string> {
  const id = `attested-${++cvms}`;
  await alice('PUT', `/d1/cvms/${id}`, cvmBody);
  return id;
}
const report = (id: string, ...reports: object[]) => cvm('POST', `/d1/cvms/${id}/reports`, { reports });
const send = async (id: string, token: string, more: object = {}) => {
  const { body } = await report(id, { type: 'attestation', id: hashOf(token), kind: 'eat', token, ...more });
  return (body['results'] as { outcome: string }[])[0];
};
const attestationOf = async (id: string) => (await alice('GET', `/d1/cvms/${id}`)).body['attestation'] as Record<string, unknown>;
const attested = (id: string, token: string) =>
  expect.poll(() => attestationOf(id), untilTestEnds).toMatchObject({ token_hash: hashOf(token) });
async function computationWithPolicy(attestation_policy: object | null = policy): Promise<string> {
  const id = await readyComputation(alice);
  await alice('PUT', `/d1/computations/${id}`, { name: 'Iris', attestation_policy });
  return id;
}
const start = (id: string, on: string) => alice('POST', `/d1/computations/${id}/run?cvm=${on}`);
const runOf = async (id: string) => (await alice('GET', `/d1/computations/${id}/run`)).body;

describe('a computation with an attestation policy', () => {
  it('runs on a CVM whose evidence satisfies it, and the run, its attestation and its evidence say so', async () => {
    const [id, on, token] = [await computationWithPolicy(), await registered(), tokenOf()];
    expect(await send(on, token)).toMatchObject({ outcome: 'recorded' });
    expect(await send(on, token)).toMatchObject({ outcome: 'duplicate' });
    await attested(on, token);
    expect(await attestationOf(on)).toMatchObject({ verdict: 'verified', platform: 'snp', measurement: 'ab'.repeat(48) });
    const { status, body } = await start(id, on);
    const run = body as unknown as string;
    expect(status).toBe(200);
    const { body: found } = await alice('GET', `/d1/computations/${id}/attestation`);
    expect(found).toMatchObject({
      run_id: run,
      verdict: 'verified',
      tokens: [{ kind: 'eat', hash: hashOf(token), size: Buffer.from(token, 'base64').length }],
    });
    const [{ download }] = found['tokens'] as [{ download: { url: string } }];
    expect(Buffer.from(await (await fetch(download.url)).arrayBuffer()).toString('base64')).toBe(token);
    await report(on, { type: 'event', id: 'end', run_id: run, event_type: 'Complete', status: 'Completed' });
    await expect.poll(() => runOf(id), untilTestEnds).toMatchObject({ status: 'completed' });
    const { body: evidence } = await alice('GET', `/d1/computations/${id}/evidence?run=${run}`);
    expect(evidence['statement']).toMatchObject({
      configuration: { attestation_policy: policy },
      attestation: { verdict: 'verified', tokens: [{ kind: 'eat', hash: hashOf(token), verdict: 'verified' }] },
    });
    const keys = await (await fetch(`${stack.baseUrl}/.well-known/jwks.json`)).text();
    const files = { evidence: JSON.stringify(evidence), keys, tokens: [Buffer.from(token, 'base64')] };
    const { roots = [] } = forgeSnp().options;
    const findings = await checkEvidence({ ...files, roots });
    expect(findings.filter(({ verdict }) => verdict === 'does not hold')).toEqual([]);
    expect(findings.map(({ sentence }) => sentence)).toContain(
      'The evidence of the CVM satisfies the attestation policy of the run.',
    );
    const untrusting = await checkEvidence(files);
    expect(untrusting.filter(({ verdict }) => verdict === 'does not hold')).toHaveLength(2);
  });

  it('does not run on a CVM that nobody registered, or that has no attestation, and the dry run says so', async () => {
    const [id, on] = [await computationWithPolicy(), await registered()];
    await report(on, { type: 'heartbeat' });
    for (const [where, why] of [
      ['nobody', /It is not registered/],
      [on, /It has no attestation/],
    ] as const) {
      const refused = { reason: 'cvm_not_attested', detail: expect.stringMatching(why) };
      expect(await start(id, where)).toMatchObject({ status: 409, body: refused });
      const { body } = await alice('POST', `/d1/computations/${id}/dryrun?cvm=${where}`);
      expect(body).toMatchObject({ missing_items: { info: [expect.stringMatching(why)] } });
    }
  });

  it.each<[string, string, (report: Buffer) => void, object]>([
    ['another certificate', 'report_data', (bytes) => bytes.fill(1, 0x50, 0x90), policy],
    ['another measurement', 'measurement', (bytes) => bytes.fill(0xcd, 0x90, 0xc0), policy],
    ['debugging', 'debug', (bytes) => bytes.writeUInt32LE((1 << 19) | (1 << 17) | (1 << 16), 0x08), policy],
    ['old firmware', 'minimum_tcb', () => undefined, { ...policy, minimum_tcb: { bootloader: 4, tee: 0, snp: 0, microcode: 0 } }],
    ['another platform', 'platform', () => undefined, { ...policy, platforms: ['tdx'] }],
  ])('does not run on a CVM with %s, and names the check %s', async (_what, check, change, given) => {
    const [id, on, token] = [await computationWithPolicy(given), await registered(), tokenOf(change)];
    await send(on, token);
    await attested(on, token);
    const detail = expect.stringContaining(`${check}: `);
    expect(await start(id, on)).toMatchObject({ status: 409, body: { reason: 'cvm_not_attested', detail } });
    const anyone = await computationWithPolicy(null);
    expect((await start(anyone, on)).status).toBe(200);
  });

  it('fails if its CVM reports evidence that does not satisfy the policy, with the failing check as reason', async () => {
    const [id, on, token] = [await computationWithPolicy(), await registered(), tokenOf()];
    await send(on, token);
    await attested(on, token);
    const { body: run } = await start(id, on);
    await send(
      on,
      tokenOf((bytes) => bytes.fill(1, 0x50, 0x90)),
      { run_id: run },
    );
    await expect
      .poll(() => runOf(id), untilTestEnds)
      .toMatchObject({ status: 'failed', reason: expect.stringContaining('report_data: ') });
  });

  it('keeps the evidence that it had when another process of its CVM reports for it after its end', async () => {
    const [id, on, token] = [await computationWithPolicy(), await registered(), tokenOf()];
    await send(on, token);
    await report(on, { type: 'heartbeat', fit: 'ready' });
    await attested(on, token);
    const { body: run } = await start(id, on);
    await report(on, { type: 'event', id: 'end', run_id: run, event_type: 'Complete', status: 'Completed' });
    await expect.poll(() => runOf(id), untilTestEnds).toMatchObject({ status: 'completed' });
    await report(on, { type: 'heartbeat', fit: 'busy' });
    await report(on, { type: 'heartbeat', fit: 'ready' });
    const other = tokenOf((bytes) => bytes.fill(1, 0x50, 0x90));
    expect(await send(on, other, { run_id: run })).toMatchObject({ outcome: 'recorded' });
    const { body: found } = await alice('GET', `/d1/computations/${id}/attestation`);
    expect(found['tokens']).toMatchObject([{ hash: hashOf(token) }]);
  });

  it('fails if its CVM restarts its agent, whose attestation is unknown then', async () => {
    const [id, on, token] = [await computationWithPolicy(), await registered(), tokenOf()];
    await send(on, token);
    await report(on, { type: 'heartbeat', fit: 'ready' });
    await attested(on, token);
    await start(id, on);
    await report(on, { type: 'heartbeat', fit: 'busy' });
    await report(on, { type: 'heartbeat', fit: 'ready' });
    expect(await attestationOf(on)).toBeNull();
    await expect
      .poll(() => runOf(id), untilTestEnds)
      .toMatchObject({ status: 'failed', reason: expect.stringContaining('restarted') });
  });
});

describe('a token', () => {
  it('is one of at most 4 of a process, alone in its batch, of at most 1 MiB', async () => {
    const on = await registered();
    const token = (size: number, fill = 1) => Buffer.alloc(size, fill).toString('base64');
    const given = (text: string) => ({ type: 'attestation', id: text.slice(0, 20), kind: 'eat', token: text });
    const { body } = await report(on, given(token(20)), { type: 'heartbeat', id: 'h' });
    expect(body['results']).toMatchObject([{ outcome: 'invalid' }, { outcome: 'recorded' }]);
    expect((await report(on, given(token(1024 * 1024)))).body).toMatchObject({ accepted: 1 });
    expect(await report(on, given(token(1024 * 1024 + 1, 2)))).toMatchObject({ status: 413 });
    for (const fill of [3, 4, 5]) expect((await report(on, given(token(20, fill)))).body).toMatchObject({ accepted: 1 });
    expect((await report(on, given(token(20, 6)))).body['results']).toMatchObject([
      { outcome: 'invalid', detail: expect.stringContaining('4') },
    ]);
    const others = Array.from({ length: 50 }, () => ({ type: 'heartbeat', id: 'x'.repeat(128), agent_state: 'a'.repeat(60) }));
    expect((await report(on, ...others)).status).toBe(200);
  });

  it('of a platform that nobody can verify is unsupported, by name', async () => {
    const on = await registered();
    const token = Buffer.from(coseOf({ platform_type: 'NoCC', raw_report: new Uint8Array(96) })).toString('base64');
    await send(on, token);
    await attested(on, token);
    expect(await attestationOf(on)).toMatchObject({ verdict: 'unsupported', platform: 'nocc', measurement: null });
  });

  it('counts no more when another certificate is registered', async () => {
    const [on, token] = [await registered(), tokenOf()];
    await send(on, token);
    await attested(on, token);
    await alice('PUT', `/d1/cvms/${on}`, { description: 'Rack 5' });
    expect(await attestationOf(on)).not.toBeNull();
    await alice('PUT', `/d1/cvms/${on}`, { description: 'Rack 5', certificate: `${cvmBody.certificate}\n` });
    expect(await attestationOf(on)).toBeNull();
  });
});

import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { testRoot } from 'computation-management-simulated-cvm';
import { withTestRoots } from 'computation-management-attestation/test-roots';
import { checkEvidence } from 'computation-management-verify';
import { checkEvidenceByTestRoots } from 'computation-management-verify/test-roots';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startStack, type Stack } from '../../local/stack.ts';
import { addCollateral } from '../../shared/attestation/collateral.ts';
import { tokenVerifier } from '../../shared/attestation/verify-reported-token.ts';
import { cvmBody } from '../../shared/openapi/examples.ts';
import { replaceClient } from '../../shared/runtime/clients.ts';
import { Deadline } from '../../shared/runtime/deadline.ts';
import { openTable } from '../../shared/table/table.ts';
import { bodyAt, currentAt, forgeTdx } from '../packages/attestation/forge-tdx.ts';
import { coseOf, forgeSnp, messageOf, type SnpChange } from '../packages/attestation/forge-snp.ts';
import { cmsIn } from '../packages/cms/fake-terminal.ts';
import { startStandInAgent, type StandInAgent } from '../support/stand-in-agent.ts';
import { untilTestEnds } from '../support/patience.ts';
import { callAs, readyComputation, type Call } from '../support/ready-computation.ts';
import { repeating } from '../support/repeating-call.ts';

let stack: Stack;
let alice: Call;
let cvm: Call;
beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: true, testEvidence: true });
  alice = repeating(callAs(stack.baseUrl, await stack.token('alice', ['d1:administrator'])));
  cvm = repeating(callAs(stack.baseUrl, await stack.token('cvm', ['d1:cvm'])));
  replaceClient(tokenVerifier, withTestRoots(snpRoots).verifyToken);
});
afterAll(() => stack.stop());

const snpRoots = forgeSnp().options.roots ?? [];
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
    const findings = await checkEvidenceByTestRoots(files, roots);
    expect(findings.filter(({ verdict }) => verdict === 'does not hold')).toEqual([]);
    expect(findings.map(({ sentence }) => sentence)).toContain(
      'The evidence of the CVM satisfies the attestation policy of the run.',
    );
    const untrusting = await checkEvidence(files);
    expect(untrusting.filter(({ verdict }) => verdict === 'does not hold')).toHaveLength(2);
  });

  it('runs on a TDX machine, and the evidence has the collateral by which its verdict can be judged again', async () => {
    const forged = forgeTdx({
      ...currentAt(new Date().toISOString()),
      quote: (bytes) => void certificateHash.copy(bytes, bodyAt + 520),
    });
    await addCollateral(
      openTable(() => new Deadline()),
      { kind: 'collateral', content: Buffer.from(JSON.stringify(forged.collateral)) },
    );
    const roots = [...snpRoots, ...(forged.options.roots ?? [])];
    replaceClient(tokenVerifier, withTestRoots(roots).verifyToken);
    const token = Buffer.from(coseOf({ platform_type: 'TDX', raw_report: forged.quote })).toString('base64');
    const on = await registered();
    await send(on, token);
    await attested(on, token);
    const { measurement } = await attestationOf(on);
    const id = await computationWithPolicy({ platforms: ['tdx'], measurements: [measurement] });
    const { body: run } = await start(id, on);
    await report(on, { type: 'event', id: 'end', run_id: run, event_type: 'Complete', status: 'Completed' });
    await expect.poll(() => runOf(id), untilTestEnds).toMatchObject({ status: 'completed' });
    const { body: evidence } = await alice('GET', `/d1/computations/${id}/evidence?run=${run as unknown as string}`);
    expect(evidence['statement']).toMatchObject({ attestation: { tokens: [{ collateral: [forged.collateral] }] } });
    const keys = await (await fetch(`${stack.baseUrl}/.well-known/jwks.json`)).text();
    const files = { evidence: JSON.stringify(evidence), keys, tokens: [Buffer.from(token, 'base64')] };
    const findings = await checkEvidenceByTestRoots(files, roots);
    expect(findings.filter(({ verdict }) => verdict === 'does not hold')).toEqual([]);
    expect(findings.map(({ sentence }) => sentence)).toContain(
      'The evidence of the CVM satisfies the attestation policy of the run.',
    );
  });

  it('runs on a simulated CVM that attests with test keys, whose evidence is judged again elsewhere', async () => {
    replaceClient(tokenVerifier, withTestRoots([Buffer.from(testRoot())]).verifyToken); // of the same name as the other one
    const on = `sim-attested-${++cvms}`;
    await alice('PUT', `/d1/cvms/${on}`, cvmBody);
    await expect.poll(() => attestationOf(on), untilTestEnds).toMatchObject({ verdict: 'verified', platform: 'snp' });
    expect((await attestationOf(on))['checks']).toContainEqual(expect.objectContaining({ name: 'test_root', passed: true }));
    const id = await computationWithPolicy();
    const { status, body: run } = await start(id, on);
    expect(status).toBe(200);
    await expect.poll(() => runOf(id), untilTestEnds).toMatchObject({ status: 'completed' });
    const { body: found } = await alice('GET', `/d1/computations/${id}/attestation`);
    const [{ hash, download }] = found['tokens'] as [{ hash: string; download: { url: string } }];
    expect(found).toMatchObject({ run_id: run, verdict: 'verified' });
    const folder = mkdtempSync(join(tmpdir(), 'attested-'));
    const [token, certificate, root] = ['token', 'cvm.pem', 'root.pem'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(token, Buffer.from(await (await fetch(download.url)).arrayBuffer()));
    writeFileSync(certificate, cvmBody.certificate);
    writeFileSync(root, testRoot());
    const cms = cmsIn(folder, { env: { CMS_SERVER: stack.baseUrl } });
    await cms('login', '--local', '--user', 'alice', '--domain', 'd1');
    const judged = { exitCode: 0, stdout: expect.stringMatching(/verified: snp, measurement (ab){48}/) };
    expect(await cms('attest', token, '--bound-to', certificate, '--root', root)).toMatchObject(judged);
    const untrusted = { exitCode: 12, stdout: expect.stringContaining('FAILED  certificate_chain') };
    expect(await cms('attest', token, '--bound-to', certificate)).toMatchObject(untrusted);
    const evidence = join(folder, 'evidence');
    expect(await cms('evidence', id, '--output', evidence)).toMatchObject({ exitCode: 0 });
    expect(await cms('verify', evidence, '--root', root)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(new RegExp(`HOLDS +The token "${hash}" is verified[^]*satisfies the attestation policy`)),
    });
    rmSync(folder, { recursive: true });
    replaceClient(tokenVerifier, withTestRoots(snpRoots).verifyToken);
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

  it.each([
    ['ready', [['busy'], ['ready']]],
    ['ready', [['busy'], ['unknown'], ['ready']]],
    ['ready', [['busy', 'ready']]],
    ['ready', [['ready', 'unknown']]],
    ['unknown', [['ready']]],
  ])('fails if its CVM, %s before, restarts its agent: %j. Its attestation is unknown then', async (before, batches) => {
    const [id, on, token] = [await computationWithPolicy(), await registered(), tokenOf()];
    await send(on, token);
    await report(on, { type: 'heartbeat', fit: before });
    await attested(on, token);
    const { body: run } = await start(id, on);
    await report(on, { type: 'event', id: 'first', run_id: run, event_type: 'Running', status: 'InProgress' });
    for (const fits of batches) await report(on, ...fits.map((fit) => ({ type: 'heartbeat', fit })));
    expect(await attestationOf(on)).toBeNull();
    await expect
      .poll(() => runOf(id), untilTestEnds)
      .toMatchObject({ status: 'failed', reason: expect.stringContaining('restarted') });
  });

  it('is not given to a CVM whose certificate was replaced since it started', async () => {
    const [id, on, token] = [await computationWithPolicy(), await registered(), tokenOf()];
    await send(on, token);
    await attested(on, token);
    await start(id, on);
    const commands = async () => (await cvm('GET', `/d1/cvms/${on}/commands`)).body['commands'];
    await expect.poll(commands, untilTestEnds).toMatchObject([{ type: 'run' }]);
    await alice('PUT', `/d1/cvms/${on}`, { ...cvmBody, certificate: `${cvmBody.certificate}\n` });
    expect(await commands()).toEqual([]);
    await alice('POST', `/d1/computations/${id}/stop`);
  });

  it('completes if its agent restarts in the batch that says so', async () => {
    const [id, on, token] = [await computationWithPolicy(), await registered(), tokenOf()];
    await send(on, token);
    await attested(on, token);
    const { body: run } = await start(id, on);
    const end = { type: 'event', id: 'end', run_id: run, event_type: 'Complete', status: 'Completed' };
    await report(on, { type: 'heartbeat', fit: 'busy' });
    await report(on, end, { type: 'heartbeat', fit: 'ready' });
    await expect.poll(() => runOf(id), untilTestEnds).toMatchObject({ status: 'completed' });
    expect(await attestationOf(on)).toBeNull();
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
    for (const [bad, detail] of [
      [given(token(1024 * 1024 + 1, 2)), '/token: Expected at most 1 MiB.'],
      [{ ...given(token(300_000, 2)), kind: '' }, '/kind: Expected a string of 1 to 60 characters, not 0.'],
    ] as const) {
      const { status, body } = await report(on, bad);
      expect([status, body['results']]).toMatchObject([200, [{ outcome: 'invalid', detail }]]);
    }
    expect((await report(on, { ...given(token(300_000)), type: 'heartbeat' })).status).toBe(413);
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

describe('cms and the agent of a run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cms-agent-'));
  const pair = generateKeyPairSync('ed25519');
  const userKey = pair.publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  const [algorithm, key, root] = ['algorithm.bin', 'key.pem', 'root.der'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const content = randomBytes(3 * 1024 * 1024);
  const agents: StandInAgent[] = [];
  let cms: ReturnType<typeof cmsIn>;

  beforeAll(async () => {
    writeFileSync(algorithm, content);
    writeFileSync(key, pair.privateKey.export({ format: 'pem', type: 'pkcs8' }));
    writeFileSync(root, forgeSnp().options.roots?.[0] ?? '');
    cms = cmsIn(folder, { env: { CMS_SERVER: stack.baseUrl } });
    expect(await cms('login', '--local', '--user', 'alice', '--domain', 'd1', '--role', 'administrator')).toMatchObject({
      exitCode: 0,
    });
  });
  afterAll(() => {
    for (const agent of agents) agent.stop();
    rmSync(folder, { recursive: true });
  });

  /** A token of a machine of the test keys over a nonce. */
  const attest = (nonce: Buffer) => {
    const { report, certificates } = forgeSnp({ report: (bytes) => void nonce.copy(bytes, 0x50) });
    return coseOf({ platform_type: 'SNP', raw_report: messageOf(report, certificates) });
  };
  const startAgent = async (options: Partial<Parameters<typeof startStandInAgent>[0]> = {}) => {
    const agent = await startStandInAgent({ userKey, attest, result: Buffer.from('a result'.repeat(1_000)), ...options });
    agents.push(agent);
    return agent;
  };

  /** A run that waits for its algorithm, of a computation with a policy that alice has approved, on a CVM at an address. */
  async function waitingRun(
    address: string,
    {
      approved = true,
      cert_file = '/etc/agent.pem',
      attestation_policy = policy,
    }: { approved?: boolean; cert_file?: string; attestation_policy?: object | null } = {},
  ) {
    const created = await alice('POST', '/d1/computations', {
      name: 'Iris',
      attestation_policy,
      agent_config: { cert_file, server_key: cert_file },
    });
    expect(created).toMatchObject({ status: 201 });
    const id = String(created.body['id']);
    const asset = { file_name: 'algorithm.bin', asset_type: 'algorithm', asset: content.toString('base64') };
    const { body } = await alice('POST', '/d1/assets', { asset });
    await alice('POST', `/d1/assets/${String(body['id'])}/${id}`);
    await alice('POST', `/d1/computations/${id}/key`, { key: userKey });
    if (approved) expect(await cms('approve', id, '--yes')).toMatchObject({ exitCode: 0 });
    const on = `attested-${++cvms}`;
    await alice('PUT', `/d1/cvms/${on}`, { ...cvmBody, agent_url: address });
    const token = tokenOf();
    await send(on, token);
    await attested(on, token);
    const { body: run } = await start(id, on);
    await report(on, { type: 'event', id: 'e1', run_id: run, event_type: 'ReceivingAlgorithm', status: 'InProgress' });
    return { id, on, run: run as unknown as string };
  }
  const sendWith = (id: string, ...more: string[]) =>
    cms('send', algorithm, '--computation', id, '--key', key, '--root', root, ...more);

  it('sends the algorithm over the connection that was named, after fresh evidence, and fetches the result', async () => {
    const agent = await startAgent();
    const { id, on, run } = await waitingRun(agent.address);
    for (const wrong of [
      ['--arg', 'one\ntwo'],
      ['--arg', 'x'.repeat(30_000), '--arg', 'y'.repeat(20_000)],
      ['--requirements', 'nowhere.txt'],
    ]) {
      const refused = { exitCode: 2, stderr: expect.stringContaining(wrong[0] === '--arg' ? '--arg' : 'nowhere.txt') };
      expect(await sendWith(id, '--agent-fingerprint', agent.fingerprint, ...wrong)).toMatchObject(refused);
    }
    expect(agent.received.nonces).toEqual([]);
    const sent = await sendWith(id, '--agent-fingerprint', agent.fingerprint, '--arg', 'one', '--arg', 'two');
    expect(sent).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Sent ') });
    const hash = createHash('sha3-256').update(content).digest('hex');
    expect(agent.received.files).toMatchObject([
      { call: 'Algo', hash, metadata: { algo_type: ['bin'], algo_args: ['one, two'] } },
    ]);
    expect(new Set(agent.received.nonces.map(String)).size).toBe(agent.received.nonces.length);
    await report(on, { type: 'event', id: 'end', run_id: run, event_type: 'ConsumingResults', status: 'Ready' });
    const output = join(folder, 'result.zip');
    const words = ['result', id, '--key', key, '--root', root, '--output', output, '--agent-fingerprint', agent.fingerprint];
    expect(await cms(...words)).toMatchObject({ exitCode: 0 });
    expect(readFileSync(output, 'utf8')).toBe('a result'.repeat(1_000));
    expect(await cms('attest', '--computation', id, '--root', root, '--agent-fingerprint', agent.fingerprint)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^verified: snp, measurement (ab){48}\n[^]*passed {2}report_data/),
    });
    expect(await cms('attest', '--computation', id, '--agent-fingerprint', agent.fingerprint)).toMatchObject({ exitCode: 12 });
  });

  it.each<
    [string, (agent: StandInAgent, other: StandInAgent) => string[], Partial<Parameters<typeof startStandInAgent>[0]>, RegExp]
  >([
    [
      'of another certificate',
      (_, other) => ['--agent-fingerprint', other.fingerprint],
      {},
      /certificate with the SHA-256 .* Nothing was sent/,
    ],
    ['that nothing tells apart from a relay', () => [], {}, /can read all that you send/],
    [
      'that shows old evidence',
      (agent) => ['--agent-fingerprint', agent.fingerprint],
      { attest: () => attest(Buffer.alloc(64, 1)) },
      /report_data/,
    ],
    [
      'that cannot make evidence',
      (agent) => ['--agent-fingerprint', agent.fingerprint],
      {
        attest: () => {
          throw new Error('EmptyProvider should not be used');
        },
      },
      /The agent gives no evidence: .*EmptyProvider.* Nothing was sent/,
    ],
    [
      'without evidence',
      (agent) => ['--agent-fingerprint', agent.fingerprint],
      { attest: () => Buffer.from('none') },
      /does not satisfy/,
    ],
    [
      'with another measurement, though it is accepted unbound',
      () => ['--unbound'],
      {
        attest: (nonce) => {
          const report = (bytes: Buffer) => void (nonce.copy(bytes, 0x50), bytes.fill(0xcd, 0x90, 0xc0));
          const forged = forgeSnp({ report });
          return coseOf({ platform_type: 'SNP', raw_report: messageOf(forged.report, forged.certificates) });
        },
      },
      /measurement: it is (cd){48}/,
    ],
  ])('sends nothing to an agent %s', async (_what, options, behaviour, said) => {
    const [agent, other] = [await startAgent(behaviour), await startAgent()];
    const { id } = await waitingRun(agent.address);
    const { exitCode, stderr } = await sendWith(id, ...options(agent, other));
    expect([exitCode > 0, stderr]).toEqual([true, expect.stringMatching(said)]);
    expect([agent.received.bytes, other.received.bytes]).toEqual([0, 0]);
  });

  it('sends nothing if the policy is not the approved one', async () => {
    const agent = await startAgent();
    const known = ['--agent-fingerprint', agent.fingerprint];
    const { id, on, run } = await waitingRun(agent.address);
    expect(await sendWith(id, ...known, '--approved', 'ab'.repeat(32))).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining('which --approved does not name'),
    });
    await report(on, { type: 'event', id: 'end', run_id: run, event_type: 'Complete', status: 'Completed' });
    await expect.poll(() => runOf(id), untilTestEnds).toMatchObject({ status: 'completed' });
    const changed = { name: 'Iris', attestation_policy: { ...policy, allow_debug: true } };
    await alice('PUT', `/d1/computations/${id}`, changed);
    const [again, token] = [await registered(), tokenOf()];
    await send(again, token);
    await attested(again, token);
    expect((await start(id, again)).status).toBe(200);
    expect(await sendWith(id, ...known, '--agent', agent.address)).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining('that you did not approve with cms approve'),
    });
    expect(agent.received.bytes).toBe(0);
  });

  it('asks before it sends without an approval on this machine', async () => {
    const agent = await startAgent();
    const known = ['--agent-fingerprint', agent.fingerprint];
    const { id, on } = await waitingRun(agent.address);
    const unconfirmed = { exitCode: 2, stderr: expect.stringMatching(/no record of your approval[^]*--yes/) };
    expect(await cms('withdraw', id, '--yes')).toMatchObject({ exitCode: 0 });
    expect(await sendWith(id, ...known)).toMatchObject(unconfirmed);
    const run = (await runOf(id)) as { id: string; manifest_digest: string; configuration_digest: string };
    const oneDigest = await sendWith(id, ...known, '--approved', run.configuration_digest);
    expect(oneDigest).toMatchObject({ exitCode: 6, stderr: expect.stringContaining(run.manifest_digest) });
    expect(await cms('approve', id, '--yes', '--cvm', 'elsewhere')).toMatchObject({ exitCode: 0 });
    expect(await sendWith(id, ...known)).toMatchObject({ exitCode: 6, stderr: expect.stringContaining('for other CVMs') });
    expect(await cms('approve', id, '--yes', '--cvm', on)).toMatchObject({ exitCode: 0 });
    expect(await sendWith(id, ...known, '--decompress')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--decompress is for datasets'),
    });
    expect(agent.received.bytes).toBe(0);
    const approved = [run.manifest_digest, run.configuration_digest.toUpperCase()].flatMap((digest) => ['--approved', digest]);
    expect(await sendWith(id, ...known, ...approved)).toMatchObject({ exitCode: 0 });
    const nowhere = join(folder, 'nowhere', 'result.zip');
    await report(on, {
      type: 'event',
      id: 'end',
      run_id: run.id,
      event_type: 'ConsumingResults',
      status: 'Ready',
    });
    expect(await cms('result', id, '--key', key, '--output', nowhere, ...known)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`Cannot write ${nowhere}`),
    });
  });

  it('says what the agent refused and why, and sends again after a cut', async () => {
    const refusing = await startAgent({ refusal: 'malformed data, hash does not match manifest', withTls: false });
    const { id } = await waitingRun(refusing.address, { cert_file: '', attestation_policy: null });
    expect(await sendWith(id, '--unbound')).toMatchObject({
      exitCode: 12,
      stderr: expect.stringMatching(/Warning: .*\nThe agent refused .*: malformed data, .*It is not the file of the manifest\./),
    });
    const cutting = await startAgent({ cuts: 1, withTls: false });
    const again = await sendWith(id, '--unbound', '--agent', cutting.address);
    expect(again).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Sending ') });
    expect(cutting.received.files).toHaveLength(1);
    expect(again.stderr.split('Warning:')).toHaveLength(2); // once for all connections
    const proxy = createServer().on('stream', (stream) => stream.respond({ ':status': 413 }, { endStream: true }));
    const { port } = await new Promise<AddressInfo>((resolve) => proxy.listen(0, () => resolve(proxy.address() as AddressInfo)));
    expect(await sendWith(id, '--unbound', '--agent', `localhost:${port}`)).toMatchObject({
      exitCode: 12,
      stderr: expect.stringContaining('it answers with the HTTP status 413. Something before the agent limits what passes'),
    });
    proxy.close();
    writeFileSync(join(folder, 'other.bin'), 'other');
    expect(await cms('send', join(folder, 'other.bin'), '--computation', id, '--key', key)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('is in the manifest of the run (the algorithm)'),
    });
  });
});

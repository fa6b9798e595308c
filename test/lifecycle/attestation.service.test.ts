import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { withTestRoots } from 'computation-management-attestation/test-roots';
import { checkEvidence } from 'computation-management-verify';
import { checkEvidenceByTestRoots } from 'computation-management-verify/test-roots';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addCollateral } from '../../shared/attestation/collateral.ts';
import { tokenVerifier } from '../../shared/attestation/verify-reported-token.ts';
import { replaceClient } from '../../shared/runtime/clients.ts';
import { Deadline } from '../../shared/runtime/deadline.ts';
import { openTable } from '../../shared/table/table.ts';
import { bodyAt, currentAt, forgeTdx } from '../packages/attestation/forge-tdx.ts';
import { coseOf, forgeSnp, messageOf } from '../packages/attestation/forge-snp.ts';
import { cmsIn } from '../packages/cms/fake-terminal.ts';
import { startStandInAgent, type StandInAgent } from '../support/stand-in-agent.ts';
import { untilTestEnds } from '../support/patience.ts';
import { type GatewayStack, startGatewayStack } from '../support/gateway-stack.ts';
import { readyComputation, type Call } from '../support/ready-computation.ts';
import type { SimulatedAgent } from '../support/simulated-agent.ts';

let world: GatewayStack;
let alice: Call;
beforeAll(async () => {
  world = await startGatewayStack();
  alice = world.call;
  replaceClient(tokenVerifier, withTestRoots(snpRoots).verifyToken);
});
afterAll(() => world.stop());

const snpRoots = forgeSnp().options.roots ?? [];
const policy = { platforms: ['snp'], measurements: ['ab'.repeat(48)] };

/** Returns a token of a newly launched machine of the test keys, whose report is bound to a certificate. */
function tokenOf(certificate: string, change: (report: Buffer) => void = () => undefined): Buffer {
  const report = (bytes: Buffer) => {
    createHash('sha512').update(certificate).digest().copy(bytes, 0x50);
    randomBytes(32).copy(bytes, 0x140);
    change(bytes);
  };
  const forged = forgeSnp({ report });
  return Buffer.from(coseOf({ platform_type: 'SNP', raw_report: messageOf(forged.report, forged.certificates) }));
}

const hashOf = (token: Uint8Array) => createHash('sha256').update(token).digest('hex');
let cvms = 0;

interface Connected {
  on: string;
  certificate: string;
  agent: SimulatedAgent;
  token: Buffer;
  /** Sends a further token over the same connection. */
  send: (token: Uint8Array) => void;
}

/** Connects the agent of a new CVM, which sends the token that `make` returns, and waits for its verdict. */
async function attestedCvm(make: (certificate: string) => Buffer | Promise<Buffer> = tokenOf): Promise<Connected> {
  const cvm = await world.enrol(`attested-${++cvms}`);
  const token = await make(cvm.certificate);
  let next: Uint8Array = token;
  const agent = world.connect(cvm, { token: () => next });
  const connected = { on: cvm.cvmId, certificate: cvm.certificate, agent, token };
  await attested(cvm.cvmId, token);
  await world.untilReady(cvm.cvmId);
  return {
    ...connected,
    send: (further) => {
      next = further;
      agent.sendAttestation();
    },
  };
}

/** Takes a run that the agent has been given to its end. */
async function complete({ agent }: Pick<Connected, 'agent'>, id: string): Promise<void> {
  await expect.poll(() => agent.state, untilTestEnds).toBe('ReceivingAlgorithm');
  agent.upload();
  agent.finish();
  await world.untilRun(id, 'completed');
}

const attestationOf = async (id: string) => (await alice('GET', `/d1/cvms/${id}`)).body['attestation'] as Record<string, unknown>;
const attested = (id: string, token: Uint8Array) =>
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
    const [id, cvm] = [await computationWithPolicy(), await attestedCvm()];
    const { on, token } = cvm;
    expect(await attestationOf(on)).toMatchObject({ verdict: 'verified', platform: 'snp', measurement: 'ab'.repeat(48) });
    const { status, body } = await start(id, on);
    const run = body as unknown as string;
    expect(status).toBe(200);
    const { body: found } = await alice('GET', `/d1/computations/${id}/attestation`);
    expect(found).toMatchObject({
      run_id: run,
      verdict: 'verified',
      tokens: [{ kind: 'eat', hash: hashOf(token), size: token.length }],
    });
    const [{ download }] = found['tokens'] as [{ download: { url: string } }];
    expect(Buffer.from(await (await fetch(download.url)).arrayBuffer())).toEqual(token);
    await complete(cvm, id);
    const { body: evidence } = await alice('GET', `/d1/computations/${id}/evidence?run=${run}`);
    expect(evidence['statement']).toMatchObject({
      configuration: { attestation_policy: policy },
      attestation: { verdict: 'verified', tokens: [{ kind: 'eat', hash: hashOf(token), verdict: 'verified' }] },
    });
    const keys = await (await fetch(`${world.stack.baseUrl}/.well-known/jwks.json`)).text();
    const files = { evidence: JSON.stringify(evidence), keys, tokens: [token] };
    const findings = await checkEvidenceByTestRoots(files, snpRoots);
    expect(findings.filter(({ verdict }) => verdict === 'does not hold')).toEqual([]);
    expect(findings.map(({ sentence }) => sentence)).toContain(
      'The evidence of the CVM satisfies the attestation policy of the run.',
    );
    const untrusting = await checkEvidence(files);
    expect(untrusting.filter(({ verdict }) => verdict === 'does not hold')).toHaveLength(2);
  });

  it('runs on a TDX machine, and the evidence has the collateral by which its verdict can be judged again', async () => {
    let forged = forgeTdx();
    const cvm = await attestedCvm(async (certificate) => {
      forged = forgeTdx({
        ...currentAt(new Date().toISOString()),
        quote: (bytes) =>
          void createHash('sha512')
            .update(certificate)
            .digest()
            .copy(bytes, bodyAt + 520),
      });
      const content = Buffer.from(JSON.stringify(forged.collateral));
      await addCollateral(
        openTable(() => new Deadline()),
        { kind: 'collateral', content },
      );
      replaceClient(tokenVerifier, withTestRoots([...snpRoots, ...(forged.options.roots ?? [])]).verifyToken);
      return Buffer.from(coseOf({ platform_type: 'TDX', raw_report: forged.quote }));
    });
    const { measurement } = await attestationOf(cvm.on);
    const id = await computationWithPolicy({ platforms: ['tdx'], measurements: [measurement] });
    const { body: run } = await start(id, cvm.on);
    await complete(cvm, id);
    const { body: evidence } = await alice('GET', `/d1/computations/${id}/evidence?run=${run as unknown as string}`);
    expect(evidence['statement']).toMatchObject({ attestation: { tokens: [{ collateral: [forged.collateral] }] } });
    const keys = await (await fetch(`${world.stack.baseUrl}/.well-known/jwks.json`)).text();
    const files = { evidence: JSON.stringify(evidence), keys, tokens: [cvm.token] };
    const findings = await checkEvidenceByTestRoots(files, [...snpRoots, ...(forged.options.roots ?? [])]);
    expect(findings.filter(({ verdict }) => verdict === 'does not hold')).toEqual([]);
    expect(findings.map(({ sentence }) => sentence)).toContain(
      'The evidence of the CVM satisfies the attestation policy of the run.',
    );
  });

  it('does not run on a CVM that nobody registered, or that has no attestation, and the dry run says so', async () => {
    const cvm = await world.enrol(`attested-${++cvms}`);
    world.connect(cvm, { attestsAtOnce: false });
    await world.untilReady(cvm.cvmId);
    const id = await computationWithPolicy();
    for (const [where, why] of [
      ['nobody', /It is not registered/],
      [cvm.cvmId, /It has no attestation/],
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
    const { on } = await attestedCvm((certificate) => tokenOf(certificate, change));
    const id = await computationWithPolicy(given);
    const detail = expect.stringContaining(`${check}: `);
    expect(await start(id, on)).toMatchObject({ status: 409, body: { reason: 'cvm_not_attested', detail } });
    const anyone = await computationWithPolicy(null);
    expect((await start(anyone, on)).status).toBe(200);
  });

  it('fails if its CVM sends evidence that does not satisfy the policy, with the failing check as reason', async () => {
    const [id, cvm] = [await computationWithPolicy(), await attestedCvm()];
    await start(id, cvm.on);
    await expect.poll(() => cvm.agent.state, untilTestEnds).toBe('ReceivingAlgorithm');
    cvm.send(tokenOf(cvm.certificate, (bytes) => bytes.fill(1, 0x50, 0x90)));
    await expect
      .poll(() => runOf(id), untilTestEnds)
      .toMatchObject({ status: 'failed', reason: expect.stringContaining('report_data: ') });
  });

  it('keeps the evidence that it had when its CVM sends a token after its end', async () => {
    const [id, cvm] = [await computationWithPolicy(), await attestedCvm()];
    const { body: run } = await start(id, cvm.on);
    await complete(cvm, id);
    const late = tokenOf(cvm.certificate, (bytes) => bytes.fill(1, 0x50, 0x90));
    cvm.send(late);
    await attested(cvm.on, late);
    const { body: evidence } = await alice('GET', `/d1/computations/${id}/evidence?run=${run as unknown as string}`);
    const attestation = { verdict: 'verified', tokens: [{ hash: hashOf(cvm.token) }] };
    expect(evidence['statement']).toMatchObject({ attestation });
  });

  it('fails if its CVM restarts its agent', async () => {
    const [id, cvm] = [await computationWithPolicy(), await attestedCvm()];
    await start(id, cvm.on);
    await expect.poll(() => cvm.agent.state, untilTestEnds).toBe('ReceivingAlgorithm');
    cvm.agent.restart();
    await world.untilRun(id, 'failed');
  });
});

describe('a token', () => {
  it('is one of at most 4 of a connection', async () => {
    const cvm = await attestedCvm();
    const further = Array.from({ length: 4 }, () => tokenOf(cvm.certificate));
    for (const token of further) cvm.send(token);
    const id = await readyComputation(alice);
    expect((await start(id, cvm.on)).status).toBe(200);
    const hashes = async () => {
      const { body } = await alice('GET', `/d1/computations/${id}/attestation`);
      return (body['tokens'] as { hash: string }[]).map(({ hash }) => hash);
    };
    await expect.poll(hashes, untilTestEnds).toEqual([cvm.token, ...further.slice(0, 3)].map(hashOf));
  });

  it('of a platform that nobody can verify is unsupported, by name', async () => {
    const { on } = await attestedCvm(() =>
      Buffer.from(coseOf({ platform_type: 'NoCC', raw_report: new Uint8Array(randomBytes(96)) })),
    );
    expect(await attestationOf(on)).toMatchObject({ verdict: 'unsupported', platform: 'nocc', measurement: null });
  });

  it('counts no more when another certificate is registered', async () => {
    const { on, certificate } = await attestedCvm();
    await alice('PUT', `/d1/cvms/${on}`, { description: 'Rack 5' });
    expect(await attestationOf(on)).not.toBeNull();
    await alice('PUT', `/d1/cvms/${on}`, { description: 'Rack 5', certificate: `${certificate}\n` });
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
    cms = cmsIn(folder, { env: { CMS_SERVER: world.stack.baseUrl } });
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
    const { on, agent } = await attestedCvm();
    await alice('PUT', `/d1/cvms/${on}`, { description: '', agent_url: address });
    await start(id, on);
    await expect.poll(() => agent.state, untilTestEnds).toBe('ReceivingAlgorithm');
    await world.untilRun(id, 'running');
    return { id, on, cvm: agent };
  }
  const sendWith = (id: string, ...more: string[]) =>
    cms('send', algorithm, '--computation', id, '--key', key, '--root', root, ...more);

  it('sends the algorithm over the connection that was named, after fresh evidence, and fetches the result', async () => {
    const agent = await startAgent();
    const { id, cvm } = await waitingRun(agent.address);
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
    cvm.upload();
    cvm.finish();
    await world.untilRun(id, 'completed');
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
    const { id, cvm } = await waitingRun(agent.address);
    expect(await sendWith(id, ...known, '--approved', 'ab'.repeat(32))).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining('which --approved does not name'),
    });
    await complete({ agent: cvm }, id);
    const changed = { name: 'Iris', attestation_policy: { ...policy, allow_debug: true } };
    await alice('PUT', `/d1/computations/${id}`, changed);
    const { on: again } = await attestedCvm();
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
    const { id, on, cvm } = await waitingRun(agent.address);
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
    await complete({ agent: cvm }, id);
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

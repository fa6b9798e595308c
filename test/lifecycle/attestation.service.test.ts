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
import { startStack, type Stack } from '../../local/stack.ts';
import { addCollateral } from '../../shared/attestation/collateral.ts';
import { tokenVerifier } from '../../shared/attestation/verify-tokens.ts';
import { attestingCvms } from '../support/attesting-cvm.ts';
import { cvmBody } from '../../shared/openapi/examples.ts';
import { newCertificate } from '../support/cvm-certificate.ts';
import { replaceClient } from '../../shared/runtime/clients.ts';
import { Deadline } from '../../shared/runtime/deadline.ts';
import { openTable } from '../../shared/table/table.ts';
import { bodyOf, currentAt, forgeTdx } from '../packages/attestation/forge-tdx.ts';
import { forgeSnpVtpm } from '../packages/attestation/forge-vtpm.ts';
import { amd, coseOf, forgeSnp, messageOf, type SnpChange } from '../packages/attestation/forge-snp.ts';
import { cmsIn } from '../packages/cms/fake-terminal.ts';
import { startStandInAgent, type StandInAgent } from '../support/stand-in-agent.ts';
import { untilTestEnds } from '../support/patience.ts';
import { callAs, type Call } from '../support/ready-computation.ts';
import { repeating } from '../support/repeating-call.ts';

let stack: Stack;
let alice: Call;
let cvm: Call;
let gateway: ReturnType<typeof attestingCvms>;
let asset: string;
beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: false, testEvidence: true });
  gateway = attestingCvms('d1');
  alice = repeating(callAs(stack.baseUrl, await stack.token('alice', ['d1:administrator'])));
  cvm = repeating(callAs(stack.baseUrl, await stack.token('cvm', ['d1:cvm'])));
  replaceClient(tokenVerifier, withTestRoots(snpRoots).verifyToken);
  const given = { file_name: 'algorithm.bin', asset_type: 'algorithm', asset: content.toString('base64') };
  asset = String((await alice('POST', '/d1/assets', { asset: given })).body['id']);
});
afterAll(() => stack.stop());

const pair = generateKeyPairSync('ed25519');
const userKey = pair.publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
/** The algorithm, which takes two messages to the agent. */
const content = randomBytes(1024 * 1024 + 1);
const snpRoots = forgeSnp().options.roots ?? [];
const policy = { platforms: ['snp'], measurements: ['ab'.repeat(48)] };
const certificates = new Map<string, string>();

/** The SHA-512 of the certificate of a CVM, which its evidence is over. */
const boundTo = (on: string) =>
  createHash('sha512')
    .update(certificates.get(on) ?? '')
    .digest();

/** A token of a machine of the test keys, a guest of its own, whose report is bound to the certificate of the CVM. */
function tokenOf(on: string, change: (report: Buffer) => void = () => undefined, more: SnpChange = {}): string {
  const report = (bytes: Buffer) => {
    boundTo(on).copy(bytes, 0x50);
    randomBytes(32).copy(bytes, 0x140);
    change(bytes);
  };
  const forged = forgeSnp({ ...more, report });
  const raw_report = messageOf(forged.report, forged.certificates);
  return Buffer.from(coseOf({ platform_type: 'SNP', raw_report })).toString('base64');
}

const hashOf = (token: string) => createHash('sha256').update(Buffer.from(token, 'base64')).digest('hex');
let cvms = 0;
/** Registers a CVM with a certificate of its own, and connects it to a gateway. */
async function registered(more: object = {}): Promise<string> {
  const id = `attested-${++cvms}`;
  const certificate = await newCertificate();
  certificates.set(id, certificate);
  await alice('PUT', `/d1/cvms/${id}`, { ...cvmBody, certificate, ...more });
  await connect(id);
  return id;
}

const reference = (cvmId: string) => ({ domain: 'd1', cvmId });
const report = (id: string, ...reports: object[]) => gateway.report(id, ...reports);
const send = (id: string, token: string, kind?: string) => gateway.send(id, token, kind);
const connect = (id: string) => gateway.connect(id);
const attestationOf = async (id: string) => (await alice('GET', `/d1/cvms/${id}`)).body['attestation'] as Record<string, unknown>;
const attested = (id: string, token: string) =>
  expect.poll(() => attestationOf(id), untilTestEnds).toMatchObject({ token_hash: hashOf(token) });
async function computationWithPolicy(attestation_policy: object | null = policy): Promise<string> {
  return await readyWith({ name: 'Iris', attestation_policy });
}
/** Creates a computation with the algorithm of all, and a key of alice. */
async function readyWith(fields: object): Promise<string> {
  const created = await alice('POST', '/d1/computations', fields);
  expect(created).toMatchObject({ status: 201 });
  const id = String(created.body['id']);
  await alice('POST', `/d1/assets/${asset}/${id}`);
  await alice('POST', `/d1/computations/${id}/key`, { key: userKey });
  return id;
}
const start = (id: string, on: string) => alice('POST', `/d1/computations/${id}/run?cvm=${on}`);
/** A computation with a policy, and a CVM with a token whose evidence the service has judged. */
async function prepared(given: object | null = policy, change?: (report: Buffer) => void) {
  const [id, on] = [await computationWithPolicy(given), await registered()];
  const token = tokenOf(on, change);
  await send(on, token);
  await attested(on, token);
  return { id, on, token };
}
const completed = async (on: string, id: string, run: unknown) => {
  await report(on, { type: 'event', id: 'end', run_id: run, event_type: 'Complete', status: 'Completed' });
  await expect.poll(() => runOf(id), untilTestEnds).toMatchObject({ status: 'completed' });
};
const runOf = async (id: string) => (await alice('GET', `/d1/computations/${id}/run`)).body;

describe('a computation with an attestation policy', () => {
  it('runs on a CVM whose evidence satisfies it, and the run, its attestation and its evidence say so', async () => {
    const { id, on, token } = await prepared();
    await send(on, token); // once more
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
    await completed(on, id, run);
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
    const on = await registered();
    const forged = forgeTdx({
      ...currentAt(new Date().toISOString()),
      quote: (bytes) => void boundTo(on).copy(bytes, bodyOf(bytes) + 520),
    });
    await addCollateral(
      openTable(() => new Deadline()),
      { kind: 'collateral', content: Buffer.from(JSON.stringify(forged.collateral)) },
    );
    const roots = [...snpRoots, ...(forged.options.roots ?? [])];
    replaceClient(tokenVerifier, withTestRoots(roots).verifyToken);
    const token = Buffer.from(coseOf({ platform_type: 'TDX', raw_report: forged.quote })).toString('base64');
    await send(on, token);
    await attested(on, token);
    const { measurement } = await attestationOf(on);
    const id = await computationWithPolicy({ platforms: ['tdx'], measurements: [measurement] });
    const { body: run } = await start(id, on);
    await completed(on, id, run);
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

  it('does not run on a CVM that nobody registered, or that has no attestation, and the dry run says so', async () => {
    const [id, on] = [await computationWithPolicy(), await registered()];
    for (const [where, why] of [
      ['nobody', /^The CVM nobody is not registered, so it satisfies no/],
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
    const { id, on } = await prepared(given, change);
    const detail = expect.stringContaining(`${check}: `);
    expect(await start(id, on)).toMatchObject({ status: 409, body: { reason: 'cvm_not_attested', detail } });
    const anyone = await computationWithPolicy(null);
    expect((await start(anyone, on)).status).toBe(200);
  });

  it('says both sides of each failing check', async () => {
    const { id, on } = await prepared(policy, (bytes) => bytes.fill(0xcd, 0x90, 0xc0));
    const sides = `measurement: it is ${'cd'.repeat(48)}, the policy allows ${'ab'.repeat(48)}`;
    expect((await start(id, on)).body).toMatchObject({ detail: expect.stringContaining(sides) });
  });

  it.each<[string, (on: string) => string, string]>([
    ['is over another certificate', (on) => tokenOf(on, (bytes) => bytes.fill(1, 0x50, 0x90)), 'report_data: '],
    [
      'is verified, of a measurement outside the policy',
      (on) => tokenOf(on, (bytes) => bytes.fill(0xcd, 0x90, 0xc0)),
      'measurement: ',
    ],
    ['cannot be read', () => Buffer.from('junk').toString('base64'), ''],
  ])('fails if its CVM sends a token that %s, and cannot start after that', async (_what, other, check) => {
    const { id, on } = await prepared();
    await start(id, on);
    await send(on, other(on));
    const failed = { status: 'failed', reason: expect.stringContaining(check) };
    await expect.poll(() => runOf(id), untilTestEnds).toMatchObject(failed);
    expect(await start(id, on)).toMatchObject({ status: 409, body: { reason: 'cvm_not_attested' } });
  });

  it('fails if its CVM sends a fifth token, however good, which may hide a refused one, and cannot start after that', async () => {
    const { id, on } = await prepared();
    for (let sent = 1; sent < 4; sent++) await send(on, tokenOf(on));
    await expect.poll(async () => (await start(id, on)).status, untilTestEnds).toBe(200);
    await send(on, tokenOf(on));
    const failed = { status: 'failed', reason: expect.stringContaining('tokens: the agent process sent more than 4') };
    await expect.poll(() => runOf(id), untilTestEnds).toMatchObject(failed);
    const detail = expect.stringContaining('sent more than 4');
    expect(await start(id, on)).toMatchObject({ status: 409, body: { reason: 'cvm_not_attested', detail } });
  });

  it('goes on while a token waits for its verdict, and ends as failed if it waits by then', async () => {
    const { id, on } = await prepared();
    const { body: run } = await start(id, on);
    const [waiting, good] = [tokenOf(on), tokenOf(on)];
    const { verifyToken } = withTestRoots(snpRoots);
    const verified: string[] = [];
    const verify: typeof verifyToken = async (token, options) => {
      const hash = createHash('sha256').update(token).digest('hex');
      if (hash === hashOf(waiting)) throw new Error('There is no verdict now.');
      verified.push(hash);
      return await verifyToken(token, options);
    };
    replaceClient(tokenVerifier, verify);
    for (const token of [waiting, good]) await send(on, token);
    await expect.poll(() => verified, untilTestEnds).toContain(hashOf(good));
    expect(await runOf(id)).toMatchObject({ status: 'running' });
    await report(on, { type: 'event', id: 'end', run_id: run, event_type: 'Complete', status: 'Completed' });
    const failed = { status: 'failed', reason: expect.stringContaining('a token is not verified') };
    await expect.poll(() => runOf(id), untilTestEnds).toMatchObject(failed);
    replaceClient(tokenVerifier, verifyToken);
  });

  it('starts only while each token of the process is verified: one over 1 MiB never is', async () => {
    const { id, on } = await prepared();
    await send(on, Buffer.alloc(1024 * 1024 + 1).toString('base64'));
    const detail = expect.stringMatching(/a token is not verified|more than 1048576/);
    expect(await start(id, on)).toMatchObject({ status: 409, body: { detail } });
  });

  it("starts whatever Microsoft's own token on Azure says, which satisfies nothing either", async () => {
    const ofMicrosoft = `${Buffer.from('{"alg":"RS256"}').toString('base64url')}.${Buffer.from('{"x-ms-attestation-type":"azurevm"}').toString('base64url')}.AA`;
    const [alone, with_] = [await registered(), await prepared()];
    const token = Buffer.from(ofMicrosoft).toString('base64');
    await send(with_.on, token, 'azure');
    await send(alone, token, 'azure');
    await attested(alone, token);
    expect((await start(with_.id, alone)).body).toMatchObject({ reason: 'cvm_not_attested' });
    const judged = async () => (await start(with_.id, with_.on)).status;
    await expect.poll(judged, untilTestEnds).toBe(200);
  });

  it('starts only on what is verified now: the clock, the lists and the roots may have changed since the token came', async () => {
    const { id, on } = await prepared();
    replaceClient(tokenVerifier, withTestRoots([]).verifyToken);
    const detail = expect.stringMatching(/It was verified on \d{4}-\d{2}-\d{2}, not any more because .*certificate_chain/);
    expect(await start(id, on)).toMatchObject({ status: 409, body: { reason: 'cvm_not_attested', detail } });
    const { body } = await alice('POST', `/d1/computations/${id}/dryrun?cvm=${on}`);
    expect(body).toMatchObject({ missing_items: { info: [detail] } });
    replaceClient(tokenVerifier, withTestRoots(snpRoots).verifyToken);
    expect((await start(id, on)).status).toBe(200);
  });

  it('starts only over the connection that attested, unless the policy allows reconnects, as its first event says', async () => {
    const { id, on } = await prepared();
    expect(await attestationOf(on)).toMatchObject({ connection: 'attested' });
    await connect(on);
    expect(await attestationOf(on)).toMatchObject({ verdict: 'verified', connection: 'reconnected' });
    const detail = expect.stringContaining('restart the agent, or allow reconnects');
    expect(await start(id, on)).toMatchObject({ status: 409, body: { reason: 'cvm_not_attested', detail } });
    const lenient = await computationWithPolicy({ ...policy, allow_reconnect: true });
    expect((await start(lenient, on)).status).toBe(200);
    const { body } = await alice('GET', `/d1/computations/${lenient}/events?event_type=started`);
    const [{ details }] = body['events'] as [{ details: string }];
    expect(JSON.parse(Buffer.from(details, 'base64').toString())).toMatchObject({ allow_reconnect: true });
  });

  it('does not start in a guest that was given another run, of any domain, unless the policy allows that', async () => {
    const guest = randomBytes(32);
    const ofGuest = (bytes: Buffer) => void guest.copy(bytes, 0x140);
    const first = await prepared(null, ofGuest);
    const { body: run_id } = await start(first.id, first.on);
    const bound = { run_id: run_id as unknown as string, computation_id: first.id, stream: gateway.streamOf(first.on) };
    const { certificate = '' } = (await gateway.service.registration(reference(first.on))) ?? {};
    const before = await gateway.service.agentRecord(reference(first.on));
    expect(await gateway.service.bindAgent(reference(first.on), { ...before, ...bound, certificate })).toBeDefined();
    const { id, on } = await prepared(policy, ofGuest);
    const detail = expect.stringContaining(`The guest ${guest.toString('hex')} was given another run before`);
    expect(await start(id, on)).toMatchObject({ status: 409, body: { reason: 'cvm_not_attested', detail } });
    expect((await start(await computationWithPolicy({ ...policy, allow_used_guest: true }), on)).status).toBe(200);
  });

  it('does not start in such a guest either if the certificate of its evidence came after it, and records the guest that it uses', async () => {
    const [guest, chip] = [randomBytes(32), 0x1a0];
    const ofGuest: SnpChange = {
      report: (bytes) => void guest.copy(bytes, 0x140),
      extensions: (all) => all.map((each) => (each.name === `${amd}.4` ? { ...each, value: Buffer.alloc(64, 0x77) } : each)),
    };
    const withoutCertificates = async (id: string) => {
      const on = await registered();
      const forged = forgeSnp({
        ...ofGuest,
        report: (bytes) => {
          boundTo(on).copy(bytes, 0x50);
          bytes.fill(0x77, chip, chip + 64);
          ofGuest.report?.(bytes);
        },
      });
      const token = Buffer.from(coseOf({ platform_type: 'SNP', raw_report: messageOf(forged.report, []) })).toString('base64');
      await send(on, token);
      await attested(on, token);
      return { id, on, certificates: forged.certificates };
    };
    const of = () => computationWithPolicy().then(withoutCertificates);
    const [first, second, third] = [await of(), await of(), await of()];
    expect(await start(first.id, first.on)).toMatchObject({ status: 409, body: { reason: 'cvm_not_attested' } });
    for (const certificate of first.certificates.slice(0, 2))
      await addCollateral(
        openTable(() => new Deadline()),
        { kind: 'certificate', content: certificate },
      );
    const [one, other] = [await start(first.id, first.on), await start(second.id, second.on)];
    expect([one.status, other.status]).toEqual([200, 200]);
    const bind = async ({ id, on }: typeof first, { body }: typeof one) => {
      const before = await gateway.service.agentRecord(reference(on));
      const { certificate = '' } = (await gateway.service.registration(reference(on))) ?? {};
      const { token_hash } = (await attestationOf(on)) as { token_hash?: string };
      const run = { run_id: body as unknown as string, computation_id: id, stream: gateway.streamOf(on) };
      return gateway.service.bindAgent(reference(on), { ...before, ...run, certificate, token_hash });
    };
    expect(await bind(first, one)).toBeDefined();
    expect(await bind(second, other)).toBeUndefined();
    const detail = expect.stringContaining(`The guest ${guest.toString('hex')} was given another run before`);
    expect(await start(third.id, third.on)).toMatchObject({ status: 409, body: { reason: 'cvm_not_attested', detail } });
  });

  it('has the evidence that it had when it ended, whatever the process or another one sends later', async () => {
    const { id, on, token } = await prepared();
    const { body: run } = await start(id, on);
    await completed(on, id, run);
    const ofRun = async () => (await alice('GET', `/d1/computations/${id}/attestation`)).body;
    const { tokens: _, ...before } = await ofRun();
    for (const other of [Buffer.from('junk').toString('base64'), tokenOf(on, (bytes) => bytes.fill(1, 0x50, 0x90))]) {
      await send(on, other);
      await expect.poll(async () => (await attestationOf(on))['verdict'], untilTestEnds).not.toBe('verified');
    }
    await connect(on);
    await send(on, tokenOf(on));
    await gateway.service.keepProcessOfRun({
      ...reference(on),
      computation_id: id,
      run_id: run as unknown as string,
      process: 'another',
    });
    expect(await ofRun()).toMatchObject({ ...before, tokens: [{ hash: hashOf(token) }] });
    const { body: evidence } = await alice('GET', `/d1/computations/${id}/evidence?run=${run as unknown as string}`);
    const { attestation, events } = evidence['statement'] as { attestation: object; events: { last: { details: string } } };
    expect(attestation).toMatchObject({ verdict: 'verified', tokens: [{ hash: hashOf(token), verdict: 'verified' }] });
    const details = JSON.parse(Buffer.from(events.last.details, 'base64').toString()) as object;
    expect(details).toMatchObject({ token_hashes: [hashOf(token)] });
  });

  it('gets no verdict for a run without a policy by a token that came after its end', async () => {
    const [id, on] = [await computationWithPolicy(null), await registered()];
    const { body: run } = await start(id, on);
    await completed(on, id, run);
    const token = tokenOf(on);
    await send(on, token);
    await gateway.service.keepProcessOfRun({
      ...reference(on),
      computation_id: id,
      run_id: run as unknown as string,
      process: 'later',
    });
    await attested(on, token);
    expect((await alice('GET', `/d1/computations/${id}/attestation`)).body).toMatchObject({ verdict: null, tokens: [] });
    const { body } = await alice('GET', `/d1/computations/${id}/evidence?run=${run as unknown as string}`);
    expect(body['statement']).toMatchObject({ attestation: null });
  });
});

describe('a CVM with a certificate', () => {
  it('is closed to those who have its token, its certificate and the role of a CVM, but not its key', async () => {
    const { id, on, token } = await prepared();
    const certificate = certificates.get(on) ?? '';
    const evil = await alice('PUT', '/d1/cvms/evil', { description: '', certificate });
    expect(evil).toMatchObject({ status: 409, body: { reason: 'public_key_taken' } });
    const { body: run } = await start(id, on);
    const closed = { status: 403, body: { reason: 'gateway_only' } };
    const ofCvm = callAs(stack.baseUrl, await stack.token('bound', [`d1:cvm:${on}`]));
    for (const caller of [cvm, ofCvm]) {
      expect(await caller('GET', `/d1/cvms/${on}/commands`)).toMatchObject(closed);
      const junk = [{ type: 'attestation', id: 'x', kind: 'eat', token: 'anVuaw==' }];
      expect(await caller('POST', `/d1/cvms/${on}/reports`, { reports: junk })).toMatchObject(closed);
    }
    await completed(on, id, run);
    expect((await alice('GET', `/d1/computations/${id}/attestation`)).body).toMatchObject({ tokens: [{ hash: hashOf(token) }] });
  });

  it('is the only one that attests: of others, a report of evidence is invalid, and the rest of its batch goes on', async () => {
    await alice('PUT', '/d1/cvms/uncertified', { description: '' });
    const reports = [
      { type: 'attestation', id: 'x', kind: 'eat', token: 'anVuaw==' },
      { type: 'heartbeat', id: 'h' },
    ];
    const { body } = await cvm('POST', '/d1/cvms/uncertified/reports', { reports });
    expect(body['results']).toMatchObject([{ outcome: 'invalid' }, { outcome: 'recorded' }]);
    expect(await attestationOf('uncertified')).toBeNull();
  });
});

describe('a token', () => {
  it('is one of at most 5 of a process', async () => {
    const { id, on } = await prepared(null);
    for (const fill of [1, 2, 3, 4, 5]) await send(on, Buffer.alloc(20, fill).toString('base64'));
    const run_id = (await start(id, on)).body as unknown as string;
    const { process = '' } = await gateway.service.agentRecord(reference(on));
    await gateway.service.keepProcessOfRun({ ...reference(on), process, computation_id: id, run_id });
    const { body } = await alice('GET', `/d1/computations/${id}/attestation?run=${run_id}`);
    expect(body['tokens']).toHaveLength(5);
  });

  it('of a platform that nobody can verify is unsupported, by name', async () => {
    const on = await registered();
    const token = Buffer.from(coseOf({ platform_type: 'NoCC', raw_report: new Uint8Array(96) })).toString('base64');
    await send(on, token);
    await attested(on, token);
    expect(await attestationOf(on)).toMatchObject({ verdict: 'unsupported', platform: 'nocc', measurement: null });
    const { id } = await prepared();
    const detail = expect.stringContaining('"Which machine, which verdict" in docs/cvm.md');
    expect(await start(id, on)).toMatchObject({ status: 409, body: { reason: 'cvm_not_attested', detail } });
  });

  it('of a Cocos machine on Azure is refused, and the start names the table of machines, as it does not where the measurement differs', async () => {
    const on = await registered();
    const raw_report = forgeSnpVtpm().evidence; // without the runtime data of the paravisor
    const token = Buffer.from(coseOf({ platform_type: 'Azure', raw_report })).toString('base64');
    await send(on, token);
    await attested(on, token);
    expect(await attestationOf(on)).toMatchObject({ verdict: 'refused', platform: 'az-snp-vtpm' });
    const { id } = await prepared();
    const detail = expect.stringContaining('"Which machine, which verdict" in docs/cvm.md');
    expect(await start(id, on)).toMatchObject({ status: 409, body: { reason: 'cvm_not_attested', detail } });
    const other = await prepared({ ...policy, measurements: ['cd'.repeat(48)] });
    expect((await start(other.id, other.on)).body['detail']).not.toContain('Which machine');
  });

  it('counts no more when another certificate is registered, which is refused while a run holds the CVM', async () => {
    const { id, on } = await prepared();
    await alice('PUT', `/d1/cvms/${on}`, { description: 'Rack 5' });
    expect(await attestationOf(on)).not.toBeNull();
    const { body: run } = await start(id, on);
    const other = { description: 'Rack 5', certificate: `${certificates.get(on) ?? ''}\n` };
    expect(await alice('PUT', `/d1/cvms/${on}`, other)).toMatchObject({ status: 409, body: { reason: 'cvm_busy' } });
    await completed(on, id, run);
    expect((await alice('PUT', `/d1/cvms/${on}`, other)).status).toBe(200);
    expect(await attestationOf(on)).toBeNull();
  });
});

describe('cms and the agent of a run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cms-agent-'));
  const [algorithm, key, root] = ['algorithm.bin', 'key.pem', 'root.der'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
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
    const id = await readyWith({ name: 'Iris', attestation_policy, agent_config: { cert_file, server_key: cert_file } });
    if (approved) expect(await cms('approve', id, '--yes')).toMatchObject({ exitCode: 0 });
    const on = await registered({ agent_url: address });
    const token = tokenOf(on);
    await send(on, token);
    await attested(on, token);
    const { body: run } = await start(id, on);
    await report(on, { type: 'event', id: 'e1', run_id: run, event_type: 'ReceivingAlgorithm', status: 'InProgress' });
    return { id, on, run: run as unknown as string };
  }
  let waiting: ReturnType<typeof waitingRun> | undefined;
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
    const { id } = await (waiting ??= waitingRun(agent.address));
    const { exitCode, stderr } = await sendWith(id, '--agent', agent.address, ...options(agent, other));
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
    await completed(on, id, run);
    const changed = { name: 'Iris', attestation_policy: { ...policy, allow_debug: true } };
    await alice('PUT', `/d1/computations/${id}`, changed);
    const again = await registered();
    const token = tokenOf(again);
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

import { createHash, generateKeyPairSync, sign, type webcrypto } from 'node:crypto';
import canonicalize from 'canonicalize';
import { checkEvidence } from 'computation-management-verify';
import { calculateJwkThumbprint, importJWK, type JWK } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import type { BodyOf } from '../support/client.ts';
import { newCvm, useSession } from '../support/session.ts';
import { markOfPrivateKeys, privateKey } from '../support/suite-state.ts';

const session = useSession();
const getEvidence = 'evidence/get-evidence';
const absent = '00000000-0001-8c3a-9f0e-2b7d41c5e6a8';

type Evidence = BodyOf<typeof getEvidence>;
interface Ended {
  id: string;
  run: string;
  evidence: Evidence;
}

const evidenceOf = (id: string, run: string) => session.done(getEvidence, { path: { id }, query: { run } });
const keys = () => session.done('service/jwks', { as: null });

/** A run with five events, and with changes of the computation before, during and after it. */
async function endedRun(): Promise<Ended> {
  const id = await session.readyComputation({ agent_config: { cert_file: 'cert', server_key: privateKey() } });
  const cvm = newCvm();
  const run = await session.startRun(id, cvm);
  const { id: command_id } = await session.commandFor(cvm, 'run');
  const running = { run_id: run, type: 'event', event_type: 'Running', status: 'InProgress' };
  await session.report(cvm, { run_id: run, type: 'accepted', command_id }, running, { ...running, status: 'Ready' });
  await session.done('computations/update-computation', { path: { id }, body: { name: 'Renamed' } });
  await session.report(cvm, { run_id: run, type: 'event', event_type: 'Complete', status: 'Completed' });
  await session.untilStatus(id, 'completed');
  const evidence = await evidenceOf(id, run);
  await session.done('computations/update-computation', { path: { id }, body: { name: 'Renamed again' } });
  return { id, run, evidence };
}

let ended: Ended;
beforeAll(async () => {
  ended = await endedRun();
});

describe('the evidence of a run', () => {
  it('states what the other endpoints return of the run', async () => {
    const { id, run, evidence } = ended;
    const { statement } = evidence;
    const { events } = await session.done('events/list-events', { path: { id }, query: { run_id: run, limit: 100 } });
    const { result, ...statedRun } = await session.done('runs/get-run', { path: { id }, query: { run } });
    expect(result).toBeNull();
    expect(statement).toMatchObject({
      type: 'computation-evidence:v1',
      domain: session.target.domain,
      computation: id,
      run: statedRun,
      manifest: await session.done('runs/get-manifest', { path: { id }, query: { run } }),
      events: { started: events.at(-1), last: events[0] },
      attestation: null,
      certificate: null,
      certificate_fingerprint: null,
      log: { origin: expect.any(String), vkey: expect.any(String) },
      service_version: session.document.info.version,
    });
    expect([statement.events.started.event_type, statement.events.last.event_type]).toEqual(['started', 'completed']);
    const digest = createHash('sha3-256').update(canonicalize(statement.manifest) ?? '');
    expect(statement.manifest_digest).toBe(digest.digest('hex'));
    const { configuration, assets, approval, result_consumers, approvals, manifest, certificate } = statement;
    const started = { manifest, configuration, assets, approval, result_consumers, approvals, certificate };
    const start_digest = createHash('sha3-256').update(canonicalize(started) ?? '');
    const details = JSON.parse(Buffer.from(statement.events.started.details, 'base64').toString()) as object;
    expect(details).toEqual({
      manifest_digest: statement.manifest_digest,
      configuration_digest: statement.configuration_digest,
      start_digest: start_digest.digest('hex'),
    });
  });

  it('never contains the private key of the agent', () => {
    expect(ended.evidence.statement.configuration.agent_config).toMatchObject({ cert_file: 'cert' });
    for (const secret of ['server_key', markOfPrivateKeys]) expect(JSON.stringify(ended.evidence)).not.toContain(secret);
  });

  it('stays the same for later requests and for ten requests at the same time', async () => {
    const again = await Promise.all(Array.from({ length: 10 }, () => evidenceOf(ended.id, ended.run)));
    for (const evidence of again) expect(evidence).toEqual(ended.evidence);
  });

  it('is signed by a published key, as another library verifies it', async () => {
    const { statement, signature, key_id } = ended.evidence;
    const jwk = (await keys()).keys.find(({ kid }) => kid === key_id);
    expect(jwk).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' });
    expect(await calculateJwkThumbprint(jwk as JWK)).toBe(key_id);
    const key = (await importJWK(jwk as JWK, 'ES256')) as webcrypto.CryptoKey;
    const verified = await crypto.subtle.verify(
      { name: 'ECDSA', hash: 'SHA-256' },
      key,
      Buffer.from(signature, 'base64url'),
      Buffer.from(canonicalize(statement) ?? ''),
    );
    expect(verified).toBe(true);
  });

  it('passes the check of npm run verify with the whole journal', async () => {
    const page = await session.done('events/list-events', { path: { id: ended.id }, query: { limit: 100 } });
    const findings = await checkEvidence({
      evidence: JSON.stringify(ended.evidence),
      keys: JSON.stringify(await keys()),
      events: [JSON.stringify(page)],
    });
    expect(findings.filter(({ verdict }) => verdict === 'does not hold')).toEqual([]);
    expect(findings.map(({ sentence }) => sentence).join()).not.toContain('are missing');
    expect(findings.map(({ sentence }) => sentence)).toContainEqual(
      expect.stringMatching(/^The 6 events .* complete, unchanged and in order/),
    );
  });

  it('differs for each run of a computation', async () => {
    const cvm = newCvm();
    const run = await session.startRun(ended.id, cvm);
    await session.endRun(cvm, { event_type: 'Failed', status: 'Failed' });
    const { statement } = await evidenceOf(ended.id, run);
    expect(statement).toMatchObject({ run: { id: run, status: 'failed' }, events: { last: { event_type: 'failed' } } });
  });
});

describe('the evidence of an approved run', () => {
  it('contains the approvals, with signatures that verify', async () => {
    const cvm = newCvm();
    const id = await session.readyComputation({ approval: 'all_signed' });
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const key = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
    await session.done('keys/upload-key', { path: { id }, body: { key } });
    const digests = await session.digestsOf(id);
    const limits = { cvm_ids: [cvm], expires_at: '2199-01-01T00:00:00.000Z' };
    const [domain, approver] = [session.target.domain, session.target.idOf('administrator')];
    const names = { type: 'computation-approval', domain, computation: id, approver };
    const { digest: manifest_digest, configuration_digest } = digests;
    const text = canonicalize({ ...names, manifest_digest, configuration_digest, ...limits }) ?? '';
    const signature = sign(null, Buffer.from(text), privateKey).toString('base64');
    await session.done('approvals/approve', { path: { id }, body: { ...digests, ...limits, signature } });
    const run = await session.startRun(id, cvm);
    await session.endRun(cvm);
    const evidence = await evidenceOf(id, run);
    expect(evidence.statement).toMatchObject({
      manifest_digest,
      configuration: { approval: 'all_signed', attestation_policy: null, log_access: 'none' },
      configuration_digest,
      run: { manifest_digest, configuration_digest },
      assets: [{ creator: session.target.idOf('administrator'), use: 'open' }],
      approvals: [{ user: approver, ...digests, ...limits, signature, key }],
      approval: 'all_signed',
      result_consumers: [session.target.idOf('administrator')],
    });
    const page = await session.done('events/list-events', { path: { id }, query: { limit: 100 } });
    const findings = await checkEvidence({
      evidence: JSON.stringify(evidence),
      keys: JSON.stringify(await keys()),
      events: [JSON.stringify(page)],
    });
    expect(findings.filter(({ verdict }) => verdict === 'does not hold')).toEqual([]);
    for (const holds of [
      'approved this manifest and configuration, signed by the key SHA256:',
      'all result consumers approved, as the computation demands: with a signature',
      'The run was started with this manifest, configuration, assets and approvals',
      'The journal has the same approvals as the last ones before the run',
    ]) {
      expect(findings).toContainEqual({ verdict: 'holds', sentence: expect.stringContaining(holds) });
    }
  });
});

describe('a request for evidence', () => {
  it('answers 409 with the reason run_active while the run is active', async () => {
    const id = await session.readyComputation();
    const cvm = newCvm();
    const run = await session.startRun(id, cvm);
    const refusal = await session.refused(getEvidence, { path: { id }, query: { run } });
    expect(refusal).toMatchObject({ status: 409, code: 'conflict', reason: 'run_active', run_id: run });
    await session.endRun(cvm);
    expect((await evidenceOf(id, run)).statement.run.id).toBe(run);
  });

  it('answers 400 if it names no run', async () => {
    const { status, errors } = await session.refused(getEvidence, { path: { id: ended.id } });
    expect([status, errors?.[0]?.pointer]).toEqual([400, 'query/run']);
  });

  it.each(['', 'latest', 'x'.repeat(1000)])('answers 404 to the run %j, which is no identifier', async (run) => {
    const { status, code } = await session.refused(getEvidence, { path: { id: ended.id }, query: { run } });
    expect([status, code]).toEqual([404, 'not_found']);
  });

  it('answers 404 to an unknown run, a run of another computation, and after the deletion of the computation', async () => {
    const other = await session.readyComputation();
    const run = await session.startRun(other, newCvm());
    for (const [id, asked] of [
      [ended.id, absent],
      [ended.id, run],
      [other, ended.run],
      [absent, ended.run],
    ] as const) {
      const { status, code } = await session.refused(getEvidence, { path: { id }, query: { run: asked } });
      expect([status, code]).toEqual([404, 'not_found']);
    }
    const { id, run: deleted } = await endedRun();
    await session.done('computations/delete-computation', { path: { id } });
    const { status, code } = await session.refused(getEvidence, { path: { id }, query: { run: deleted } });
    expect([status, code]).toEqual([404, 'not_found']);
  });
});

describe('the public keys', () => {
  it('are at /.well-known/jwks.json without a token, and contain nothing private', async () => {
    const response = await fetch(`${session.target.baseUrl}/.well-known/jwks.json`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    const { keys: listed } = (await response.json()) as { keys: Record<string, string>[] };
    expect(listed.length).toBeGreaterThan(0);
    for (const key of listed) expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
  });
});

import { randomBytes } from 'node:crypto';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { fingerprintOfCertificate } from 'computation-management-formats/certificates';
import { canonicalDigest, logEntry, logTag } from 'computation-management-formats/digests';
import { leafHash, openNote, parseCheckpoint, parseProof, verifyInclusion } from 'computation-management-transparency-log';
import { checkEvidence } from 'computation-management-verify';
import * as v from 'valibot';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deleteComputation } from '../../../shared/computations/delete-computation.ts';
import { purgeAll } from '../../../shared/deletion/purge-all.ts';
import { statementSchema } from '../../../shared/evidence/evidence.ts';
import { integrateEntries, readLogIdentity } from '../../../shared/history/index.ts';
import { readEvidence } from '../../../shared/evidence/read-evidence.ts';
import { readPublishedKeys } from '../../../shared/evidence/signing-key.ts';
import { historyKeys, runKeys } from '../../../shared/table/keys.ts';
import { type Table, getItem, queryPartition } from '../../../shared/table/table.ts';
import {
  allowed,
  aReadyComputation,
  aRun,
  endRunWith,
  stageLogOf,
  startStores,
  type Stores,
} from '../../support/builders-store.ts';
import { clockOfTests } from '../../support/append-to-journal.ts';
import { certificatePem } from '../../packages/formats/openssh-keys.ts';
import { setTestEnvironment } from '../../support/test-environment.ts';
import { patientDeadline } from '../../support/embedded-table.ts';
import { openKms, type Kms } from '../../../shared/runtime/clients.ts';

const domain = 'd1';
let stores: Stores;
let computationId: string;
let runId: string;

beforeAll(async () => {
  stores = await startStores();
  setTestEnvironment(stores.endpoints);
});
afterAll(() => stores.stop());
beforeEach(async () => {
  ({ id: computationId } = await aReadyComputation(stores, domain));
  runId = await aRun(stores, domain, computationId, `cvm-of-${computationId}`);
});

/** Opens KMS without the time limits of the service, which a busy machine may exceed. */
const keys = () => openKms(patientDeadline);
const end = async () => {
  await endRunWith(stores, domain, runId);
  await integrateEntries(stageLogOf(stores));
};
const remove = () => deleteComputation(stores.table, { domain, id: computationId, permit: allowed });
const read = (table: Table = stores.table, now = clockOfTests) =>
  readEvidence({ ...stageLogOf(stores), table }, { domain, computationId, runId, serviceVersion: '1.2.3', now });

/** Changes an item as only another part of the service would have left it. */
async function alter(key: { pk: string; sk: string }, UpdateExpression: string, values?: Record<string, unknown>): Promise<void> {
  const Key = { pk: key.pk, sk: key.sk };
  const given = values ? { ExpressionAttributeValues: values } : {};
  await stores.table.document.send(new UpdateCommand({ TableName: stores.table.name, Key, UpdateExpression, ...given }));
}

describe('readEvidence', () => {
  it('states the run, its manifest and its events, signed by a published key', async () => {
    await end();
    const evidence = await read();
    const statement = v.parse(statementSchema, evidence.statement);
    expect(statement).toEqual(evidence.statement);
    expect(statement).toMatchObject({
      domain,
      computation: computationId,
      run: { id: runId, status: 'completed' },
      manifest: { id: computationId },
      manifest_digest: canonicalDigest(statement.manifest),
      events: {
        started: { event_type: 'started', run_id: runId, hash: expect.any(String) },
        last: { event_type: 'completed', run_id: runId, hash: expect.any(String) },
      },
      certificate: null,
      certificate_fingerprint: null,
      log: await readLogIdentity(keys()),
      service_version: '1.2.3',
      issued_at: clockOfTests,
    });
    const jwks = { keys: await readPublishedKeys(keys()) };
    const findings = await checkEvidence({ evidence: JSON.stringify(evidence), keys: JSON.stringify(jwks) });
    expect(findings.filter(({ verdict }) => verdict === 'does not hold')).toEqual([]);
  });

  it('has the entries of the start and of the end, with proofs to the published checkpoint', async () => {
    await end();
    const { log, statement } = await read();
    const { events } = v.parse(statementSchema, statement);
    const { vkey, origin } = await readLogIdentity(keys());
    const hashes = { 'run-start': events.started.hash, 'run-end': events.last.hash, result: '' };
    expect(log.entries.map(({ type }) => type)).toEqual(['run-start', 'run-end']);
    for (const { type, index, salt, proof } of log.entries) {
      const { checkpoint, hashes: beside, index: proven } = parseProof(proof);
      const { text } = await openNote(checkpoint, [vkey]);
      const tag = logTag({ type, domain, computation: computationId, run: runId });
      const entry = logEntry({ tag, salt: Buffer.from(salt, 'base64'), event_hash: hashes[type] });
      const tree = parseCheckpoint(text);
      expect([proven, tree.origin, verifyInclusion(leafHash(entry), index, tree, beside)]).toEqual([index, origin, true]);
    }
  });

  it('throws log_pending until both entries are in the published log', async () => {
    await endRunWith(stores, domain, runId);
    await expect(read()).rejects.toMatchObject({ code: 'conflict', extras: { reason: 'log_pending' } });
    await integrateEntries(stageLogOf(stores));
    await expect(read()).resolves.toBeDefined();
  });

  it('throws log_contradicted for a run that ended otherwise before its table was restored', async () => {
    await end();
    const tag = Buffer.from(logTag({ type: 'run-end', domain, computation: computationId, run: runId })).toString('hex');
    await alter(historyKeys.place(tag), 'SET entry = :entry', { ':entry': new Uint8Array(64) });
    await expect(read()).rejects.toMatchObject({ code: 'conflict', extras: { reason: 'log_contradicted' } });
  });

  it('throws run_active while the run is active, and not_found for an unknown run', async () => {
    await expect(read()).rejects.toMatchObject({ code: 'conflict', extras: { reason: 'run_active', run_id: runId } });
    const other = (await aReadyComputation(stores, domain)).id;
    const request = { domain, serviceVersion: '', now: clockOfTests };
    for (const [id, run] of [
      [other, runId],
      [computationId, other],
      [runId, runId],
      [computationId, '9f0c6a52-4a0e-4d6c-8a43-5d0f5f0e7c11'],
    ] as const) {
      const reading = readEvidence(stageLogOf(stores), { ...request, computationId: id, runId: run });
      await expect(reading).rejects.toMatchObject({ code: 'not_found' });
    }
  });

  it('is made once: twenty callers at once and all later ones get the same', async () => {
    await end();
    const first = await Promise.all(
      Array.from({ length: 20 }, (_, index) => read(stores.table, `2025-07-17T09:00:0${index % 10}.000Z`)),
    );
    const later = await read(stores.table, '2026-01-01T00:00:00.000Z');
    expect(new Set([...first, later].map((evidence) => JSON.stringify(evidence))).size).toBe(1);
  });

  it.each([
    ['before it is stored', 'dropped', false],
    ['after it is stored', 'lost-answer', true],
  ] as const)('is one statement for all later callers if its maker dies %s', async (_when, kind, isStored) => {
    await end();
    stores.proxy.reset();
    stores.proxy.inject({ kind, share: 1, operations: ['TransactWriteItems'], times: 1 });
    await expect(read(stores.mortal)).rejects.toThrow();
    stores.proxy.inject(undefined);
    const item = await getItem(stores.table, runKeys.evidence(computationId, runId));
    expect(item !== undefined).toBe(isStored);
    const next = await read();
    expect(await read(stores.table, '2026-01-01T00:00:00.000Z')).toEqual(next);
    if (item) expect(next.signature).toBe(item['signature']);
  });

  it('goes with its computation', async () => {
    await end();
    await read();
    await remove();
    await expect(read()).rejects.toMatchObject({ code: 'not_found' });
    await purgeAll(stores.table, stores.content);
    expect(await queryPartition(stores.table, runKeys.partition(computationId))).toEqual([]);
  });

  it('is not stored if its computation is deleted and purged while it is signed', async () => {
    await end();
    const slow: Kms = {
      ...keys(),
      sign: async (...given) => {
        await remove();
        await purgeAll(stores.table, stores.content);
        return await keys().sign(...given);
      },
    };
    const request = { domain, computationId, runId, serviceVersion: '1.2.3', now: clockOfTests };
    await expect(readEvidence({ ...stageLogOf(stores), kms: slow }, request)).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(await queryPartition(stores.table, runKeys.partition(computationId))).toEqual([]);
  });

  it('has the certificate, assets and approvals that the run kept', async () => {
    await end();
    const assets = [{ id: 'a-1', creator: 'bob', use: 'approval', checksum: 'cd'.repeat(32), key: null }];
    const digests = { digest: 'ef'.repeat(32), configuration_digest: '01'.repeat(32) };
    const limits = { cvm_ids: null, expires_at: null, max_runs: null, use: null, approval_id: null, journal_head: null };
    const words = { ...digests, ...limits, signature: null, key: null };
    const approvals = [{ user: 'bob', ...words, approved_at: clockOfTests }];
    const snapshot = runKeys.snapshot(computationId, runId);
    const given = { ':assets': assets, ':approvals': approvals, ':certificate': certificatePem };
    await alter(snapshot, 'SET assets = :assets, approvals = :approvals, certificate = :certificate', given);
    const certificate_fingerprint = fingerprintOfCertificate(certificatePem);
    const stated = { certificate: certificatePem, certificate_fingerprint, assets, approvals };
    expect((await read()).statement).toMatchObject(stated);
  });

  it('is stored deflated, and of the largest record of a run fits into an item, whatever is in it', async () => {
    await end();
    const printableBytes = randomBytes(370 * 1024).map((byte) => 35 + (byte % 57)); // as much as a text can hold that JSON does not escape
    const text = Buffer.from(printableBytes).toString('latin1');
    const names = Array.from({ length: text.length / 255 }, (_, index) => text.slice(index * 255, index * 255 + 255));
    await alter(runKeys.snapshot(computationId, runId), 'SET result_consumers = :names', { ':names': names });
    const { statement } = await read();
    expect(statement).toMatchObject({ result_consumers: names });
    const item = await getItem(stores.table, runKeys.evidence(computationId, runId));
    const { byteLength } = item?.['statement'] as Uint8Array;
    expect(byteLength).toBeLessThan(Buffer.byteLength(JSON.stringify(statement)));
    expect(byteLength).toBeLessThan(350 * 1024);
    expect(await read()).toMatchObject({ statement });
  });

  it('never contains the private key of the agent', async () => {
    await end();
    const snapshot = runKeys.snapshot(computationId, runId);
    await alter(snapshot, 'SET agent_config.server_key = :key', { ':key': 'TOP SECRET' });
    expect(JSON.stringify(await read())).not.toContain('SECRET');
  });
});

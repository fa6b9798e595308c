import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  bindAgent,
  keepAttestationOfRun,
  readAgentRecord,
  recordAgentProcess,
  type AgentRecord,
} from '../../../shared/runs/agent-record.ts';
import { setCommandStream } from '../../../shared/cvms/command-stream.ts';
import { registerCvm } from '../../../shared/cvms/change-cvm.ts';
import { cvm as sampleCvm, cvmBody } from '../../../shared/openapi/examples.ts';
import { cvmKeys, runKeys } from '../../../shared/table/keys.ts';
import { getItem } from '../../../shared/table/table.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);

const now = '2026-01-01T00:00:00.000Z';
const run = { run_id: 'run-1', computation_id: 'c-1' };
let cvms = 0;
const newCvm = () => ({ domain: 'd1', cvmId: `cvm-${++cvms}` });
type Cvm = ReturnType<typeof newCvm>;
const read = (cvm: Cvm) => readAgentRecord(embedded.table, cvm);
/** A CVM with the certificate of the samples whose commands the stream `s1` takes. */
async function heldCvm(): Promise<Cvm> {
  const cvm = newCvm();
  await registerCvm(embedded.table, { ...cvm, given: cvmBody, now });
  await setStream(cvm, 's1');
  return cvm;
}

const setStream = (cvm: Cvm, stream: string, instead?: string) =>
  setCommandStream(embedded.table, cvm, {
    commandStream: { gateway: 'g1', stream },
    instead: instead === undefined ? undefined : { gateway: 'g1', stream: instead },
    now,
  });
const bind = (cvm: Cvm, record: AgentRecord & typeof run, stream = 's1', certificate = sampleCvm.certificate_fingerprint) =>
  bindAgent(embedded.table, cvm, { ...record, stream, certificate });
const enter = (cvm: Cvm, bytes: number, before: AgentRecord = {}, isNew = true) =>
  recordAgentProcess(embedded.table, cvm, {
    before,
    isNew,
    attestation: Buffer.alloc(bytes, 7),
    attestation_hash: `hash of ${bytes}`,
    now,
  });
const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');
const tokenOf = ({ domain, cvmId }: Cvm) => getItem(embedded.table, cvmKeys.attestation(domain, cvmId));
const tokenOfRun = () => getItem(embedded.table, runKeys.attestation(run.computation_id, run.run_id));

describe('the record of an agent process', () => {
  it('is empty for a CVM that has never been given a run', async () => {
    expect(await read(newCvm())).toEqual({});
  });

  it('keeps the run that the process was given, and refuses a second one', async () => {
    const cvm = await heldCvm();
    const given = { ...run, attempted_run_id: 'run-1', attempts: 1 };
    expect(await bind(cvm, given)).toBe(true);
    expect(await read(cvm)).toEqual(given);
    expect(await bind(cvm, { ...given, run_id: 'run-2' })).toBe(false);
    expect(await read(cvm)).toEqual(given);
    expect(await bind(cvm, { ...given, attempts: 2 })).toBe(true);
    expect(await read(cvm)).toEqual({ ...given, attempts: 2 });
    expect(await read(newCvm())).toEqual({});
  });

  it('takes no run for a stream in whose place another one is', async () => {
    const cvm = await heldCvm();
    await setStream(cvm, 's2', 's1');
    expect(await bind(cvm, run)).toBe(false);
    expect(await read(cvm)).toEqual({});
    expect(await bind(cvm, run, 's2')).toBe(true);
  });

  it('takes no run for a stream whose certificate was replaced or revoked', async () => {
    const cvm = await heldCvm();
    expect(await bind(cvm, run, 's1', 'of the certificate before')).toBe(false);
    await registerCvm(embedded.table, { ...cvm, given: { ...cvmBody, certificate: null }, now });
    expect(await bind(cvm, run)).toBe(false);
    expect(await read(cvm)).toEqual({});
    await registerCvm(embedded.table, { ...cvm, given: cvmBody, now });
    expect(await bind(cvm, run)).toBe(true);
  });

  it('takes no run on a CVM that nobody holds', async () => {
    expect(await bind(newCvm(), run)).toBe(false);
  });

  it('is empty for a new process, which can take another run', async () => {
    const cvm = await heldCvm();
    const kept = { attempted_run_id: 'run-1', attempts: 2 };
    await bind(cvm, { ...run, ...kept });
    const record = { ...kept, attestation_hash: 'hash of 5' };
    expect(await enter(cvm, 5, { ...run, ...kept })).toEqual(record);
    expect(await enter(cvm, 5, { ...run, ...kept })).toEqual(record);
    expect(await read(cvm)).toEqual(record);
    expect(await bind(cvm, { ...run, run_id: 'run-2' })).toBe(true);
  });

  it('keeps its run if the process attests itself after it got the run', async () => {
    const cvm = await heldCvm();
    await bind(cvm, run);
    expect(await enter(cvm, 5, run, false)).toEqual({ ...run, attestation_hash: 'hash of 5' });
    expect(await read(cvm)).toEqual({ ...run, attestation_hash: 'hash of 5' });
  });

  it('keeps a run that was given since the record was read', async () => {
    const cvm = await heldCvm();
    await bind(cvm, run);
    expect(await enter(cvm, 5)).toBeUndefined();
    expect(await enter(cvm, 5, { ...run, run_id: 'run-0' })).toBeUndefined();
    expect(await read(cvm)).toEqual(run);
  });

  it('keeps the attestation token and its hash', async () => {
    const cvm = newCvm();
    await enter(cvm, 3);
    expect(await tokenOf(cvm)).toMatchObject({ token: new Uint8Array([7, 7, 7]), hash: 'hash of 3', received_at: now });
  });

  it('of a token of more than 256 KiB keeps the hash alone', async () => {
    const [fits, tooLong] = [newCvm(), newCvm()];
    await enter(fits, 256 * 1024);
    await enter(tooLong, 256 * 1024 + 1);
    expect((await tokenOf(fits))?.['token']).toHaveLength(256 * 1024);
    expect(await tokenOf(tooLong)).toBeUndefined();
    expect(await read(tooLong)).toEqual({ attestation_hash: `hash of ${256 * 1024 + 1}` });
  });

  it('has no hash if the process sent no token', async () => {
    const cvm = newCvm();
    expect(await enter(cvm, 0)).toEqual({});
    expect([await read(cvm), await tokenOf(cvm)]).toEqual([{}, undefined]);
  });
});

describe('keepAttestationOfRun', () => {
  it('keeps nothing if the agent sent no token', async () => {
    await keepAttestationOfRun(embedded.table, newCvm(), run);
    await keepAttestationOfRun(embedded.table, newCvm(), { ...run, attestation_hash: 'hash of 2' });
    expect(await tokenOfRun()).toBeUndefined();
  });

  it('keeps the token whose hash the run was given under, no later one, and that of the process that got the run after it', async () => {
    const cvm = await heldCvm();
    const other = { run_id: 'run-of-two-tokens', computation_id: 'c-1' };
    const attest = async (token: string, before: AgentRecord, isNew: boolean) =>
      await recordAgentProcess(embedded.table, cvm, {
        before,
        isNew,
        attestation: Buffer.from(token),
        attestation_hash: sha256(token),
        now,
      });
    const token = () => getItem(embedded.table, runKeys.attestation(other.computation_id, other.run_id));

    const given = { ...(await attest('first', {}, true)), ...other };
    await bind(cvm, given);
    const late = await attest('late', given, false);
    expect(late).toEqual({ ...other, attestation_hash: sha256('first') });
    await keepAttestationOfRun(embedded.table, cvm, { ...late, ...other });
    expect(await token()).toBeUndefined();

    await attest('first', given, false);
    await keepAttestationOfRun(embedded.table, cvm, { ...late, ...other });
    await keepAttestationOfRun(embedded.table, cvm, { ...(await attest('late', given, false)), ...other });
    expect(await token()).toMatchObject({ token: new Uint8Array(Buffer.from('first')), hash: sha256('first') });

    const again = { ...(await attest('of another process', given, true)), ...other };
    await bind(cvm, again);
    await keepAttestationOfRun(embedded.table, cvm, again);
    expect(await token()).toMatchObject({ hash: sha256('of another process') });
  });

  it('keeps the token of the agent with its run, also when another process begins on the CVM', async () => {
    const cvm = newCvm();
    await enter(cvm, 2);
    await keepAttestationOfRun(embedded.table, cvm, { ...run, attestation_hash: 'hash of 2' });
    await enter(cvm, 4);
    expect(await tokenOfRun()).toMatchObject({ token: new Uint8Array([7, 7]), hash: 'hash of 2', received_at: now });
    expect(await tokenOf(cvm)).toMatchObject({ hash: 'hash of 4' });
  });
});

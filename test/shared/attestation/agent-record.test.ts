import { describe, expect, it } from 'vitest';
import { bindAgent, readAgentRecord, recordAgentProcess, type AgentRecord } from '../../../shared/attestation/agent-record.ts';
import { setCommandStream } from '../../../shared/rows/command-stream.ts';
import { registerCvm } from '../../../shared/cvms/register-cvm.ts';
import { cvm as sampleCvm, cvmBody } from '../../../shared/openapi/examples.ts';
import { cvmKeys } from '../../../shared/table/keys.ts';
import { setAttributes, updateExisting } from '../../../shared/table/writes.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { getItem } from '../../../shared/table/table.ts';

const embedded = sharedByTests(startEmbeddedTable);

const now = '2026-01-01T00:00:00.000Z';
const run = { run_id: 'run-1', computation_id: 'c-1' };
let cvms = 0;
const newCvm = () => ({ domain: 'd1', cvmId: `cvm-${++cvms}` });
type Cvm = ReturnType<typeof newCvm>;
const read = (cvm: Cvm) => readAgentRecord(embedded.table, cvm);
/** Registers a CVM with the certificate of the samples, whose commands the stream `s1` takes. */
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
const bind = (
  cvm: Cvm,
  record: AgentRecord & typeof run & { token_hash?: string },
  stream = 's1',
  certificate = sampleCvm.certificate_fingerprint,
) => bindAgent(embedded.table, cvm, { ...record, stream, certificate });
const process = expect.any(String) as string;
const enter = (cvm: Cvm, attestation_hash: string | undefined, before: AgentRecord = {}, isNew = true) =>
  recordAgentProcess(embedded.table, cvm, { before, isNew, attestation_hash });

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
    const record = { ...kept, process, attestation_hash: 'hash of 5' };
    expect(await enter(cvm, 'hash of 5', { ...run, ...kept })).toEqual(record);
    expect(await enter(cvm, 'hash of 5', { ...run, ...kept })).toEqual(record);
    expect(await read(cvm)).toEqual(record);
    expect(await bind(cvm, { ...run, run_id: 'run-2' })).toBe(true);
  });

  it('keeps its run if the process attests itself after it got the run', async () => {
    const cvm = await heldCvm();
    await bind(cvm, run);
    expect(await enter(cvm, 'hash of 5', run, false)).toEqual({ ...run, process, attestation_hash: 'hash of 5' });
    expect(await read(cvm)).toEqual({ ...run, process, attestation_hash: 'hash of 5' });
  });

  it('keeps a run that was given since the record was read', async () => {
    const cvm = await heldCvm();
    await bind(cvm, run);
    expect(await enter(cvm, 'hash of 5')).toBeUndefined();
    expect(await enter(cvm, 'hash of 5', { ...run, run_id: 'run-0' })).toBeUndefined();
    expect(await read(cvm)).toEqual(run);
  });

  it('of a new process takes the attestation from the CVM, and refuses a CVM that nobody registered', async () => {
    const cvm = await heldCvm();
    const attestation = { token_hash: 'of the former process' };
    await updateExisting(embedded.table, cvmKeys.cvm(cvm.domain, cvm.cvmId), setAttributes({ attestation }));
    expect(await bind(cvm, { ...run, token_hash: 'another' })).toBe(false);
    await enter(cvm, 'hash');
    expect((await getItem(embedded.table, cvmKeys.cvm(cvm.domain, cvm.cvmId)))?.['attestation']).toBeNull();
    expect(await bind(cvm, { ...run, ...attestation })).toBe(false);
    expect(await enter(newCvm(), 'hash')).toBeUndefined();
  });

  it('has no hash if the process sent no token', async () => {
    const cvm = await heldCvm();
    expect(await enter(cvm, undefined)).toEqual({ process });
    expect(await read(cvm)).toEqual({ process });
  });
});

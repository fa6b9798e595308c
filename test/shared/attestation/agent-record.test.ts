import { describe, expect, it } from 'vitest';
import { bindAgent, readAgentRecord, recordAgentProcess, type AgentRecord } from '../../../shared/attestation/agent-record.ts';
import { setCommandStream } from '../../../shared/rows/command-stream.ts';
import { registerCvm } from '../../../shared/cvms/register-cvm.ts';
import { cvm as sampleCvm, cvmBody } from '../../../shared/openapi/examples.ts';
import { cvmKeys } from '../../../shared/table/keys.ts';
import { setAttributes, updateExisting } from '../../../shared/table/writes.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { beforeTheNextTransaction } from '../../support/interleave.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { getItem } from '../../../shared/table/table.ts';

const embedded = sharedByTests(startEmbeddedTable);

const now = '2026-01-01T00:00:00.000Z';
const run = { run_id: 'run-1', computation_id: 'c-1' };
let cvms = 0;
const newCvm = () => ({ domain: `d${++cvms}`, cvmId: 'cvm-1' }); // one certificate for each domain
type Cvm = ReturnType<typeof newCvm>;
const read = (cvm: Cvm) => readAgentRecord(embedded.table, cvm);
/** Registers a CVM with the certificate of the samples, whose commands the stream `s1` takes. */
async function heldCvm(): Promise<Cvm> {
  const cvm = newCvm();
  await registerCvm(embedded.table, { by: 'root', ...cvm, given: cvmBody, now });
  await setStream(cvm, 's1');
  return cvm;
}

const setStream = (cvm: Cvm, stream: string, instead?: string) =>
  setCommandStream(embedded.table, cvm, {
    commandStream: { gateway: 'g1', stream },
    instead: instead === undefined ? undefined : { gateway: 'g1', stream: instead },
    now,
  });
const set = (cvm: Cvm, changes: object) =>
  updateExisting(embedded.table, cvmKeys.cvm(cvm.domain, cvm.cvmId), setAttributes({ ...changes }));
const bind = (
  cvm: Cvm,
  record: AgentRecord & typeof run & { token_hash?: string; allow_reconnect?: boolean; allow_used_guest?: boolean },
  stream = 's1',
  certificate = sampleCvm.certificate_fingerprint,
) => bindAgent(embedded.table, cvm, { ...record, stream, certificate });
const process = expect.any(String) as string;
const enter = (cvm: Cvm, attestation_hash: string | undefined, before: AgentRecord = {}, isNew = true, stream = 's1') =>
  recordAgentProcess(embedded.table, cvm, { before, isNew, attestation_hash, stream });
const attested_stream = 's1';

describe('the record of an agent process', () => {
  it('is empty for a CVM that has never been given a run', async () => {
    expect(await read(newCvm())).toEqual({});
  });

  it('keeps the run that the process was given, and refuses a second one', async () => {
    const cvm = await heldCvm();
    const given = { ...run, attempted_run_id: 'run-1', attempts: 1 };
    expect(await bind(cvm, given)).toEqual(given);
    expect(await read(cvm)).toEqual(given);
    expect(await bind(cvm, { ...given, run_id: 'run-2' })).toBeUndefined();
    expect(await read(cvm)).toEqual(given);
    expect(await bind(cvm, { ...given, attempts: 2 })).toBeDefined();
    expect(await read(cvm)).toEqual({ ...given, attempts: 2 });
    expect(await read(newCvm())).toEqual({});
  });

  it('takes no run for a stream in whose place another one is', async () => {
    const cvm = await heldCvm();
    await setStream(cvm, 's2', 's1');
    expect(await bind(cvm, run)).toBeUndefined();
    expect(await read(cvm)).toEqual({});
    expect(await bind(cvm, run, 's2')).toBeDefined();
  });

  it('takes no run for a stream whose certificate was replaced or revoked', async () => {
    const cvm = await heldCvm();
    expect(await bind(cvm, run, 's1', 'of the certificate before')).toBeUndefined();
    await registerCvm(embedded.table, { by: 'root', ...cvm, given: { ...cvmBody, certificate: null }, now });
    expect(await bind(cvm, run)).toBeUndefined();
    expect(await read(cvm)).toEqual({});
    await registerCvm(embedded.table, { by: 'root', ...cvm, given: cvmBody, now });
    expect(await bind(cvm, run)).toBeDefined();
  });

  it('takes no run on a CVM that nobody holds', async () => {
    expect(await bind(newCvm(), run)).toBeUndefined();
  });

  it('is empty for a new process, which can take another run', async () => {
    const cvm = await heldCvm();
    const kept = { attempted_run_id: 'run-1', attempts: 2 };
    await bind(cvm, { ...run, ...kept });
    const record = { ...kept, process, attestation_hash: 'hash of 5', attested_stream };
    expect(await enter(cvm, 'hash of 5', { ...run, ...kept })).toEqual(record);
    expect(await enter(cvm, 'hash of 5', { ...run, ...kept })).toEqual(record);
    expect(await read(cvm)).toEqual(record);
    expect(await bind(cvm, { ...run, run_id: 'run-2' })).toBeDefined();
  });

  it('keeps its run if the process attests itself after it got the run', async () => {
    const cvm = await heldCvm();
    await bind(cvm, run);
    expect(await enter(cvm, 'hash of 5', run, false)).toEqual({
      ...run,
      process,
      attestation_hash: 'hash of 5',
      attested_stream,
    });
    expect(await read(cvm)).toEqual({ ...run, process, attestation_hash: 'hash of 5', attested_stream });
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
    await set(cvm, { attestation });
    expect(await bind(cvm, { ...run, token_hash: 'another' })).toBeUndefined();
    await enter(cvm, 'hash');
    expect((await getItem(embedded.table, cvmKeys.cvm(cvm.domain, cvm.cvmId)))?.['attestation']).toBeNull();
    expect(await bind(cvm, { ...run, ...attestation })).toBeUndefined();
    expect(await enter(newCvm(), 'hash')).toBeUndefined();
  });

  it('is given a run with a policy only over the stream that attested, unless the policy allows reconnects', async () => {
    const cvm = await heldCvm();
    const attestation = { token_hash: 'verified' };
    await set(cvm, { attestation, attested_process: 'p1', attested_stream: 's1' });
    await setStream(cvm, 's2', 's1');
    const given = { ...run, ...attestation, process: 'p1' };
    expect(await bind(cvm, { ...given, process: 'p0', allow_reconnect: true }, 's2')).toBeUndefined(); // the same token of another process
    expect(await bind(cvm, given, 's2')).toBeUndefined();
    expect(await bind(cvm, { ...given, allow_reconnect: true }, 's2')).toEqual({
      ...run,
      process: 'p1',
      bound_stream: 's2',
      allow_reconnect: true,
    });
    await setStream(cvm, 's1', 's2');
    expect(await bind(cvm, given, 's1')).toEqual({ ...run, process: 'p1', bound_stream: 's1' });
  });

  it.each<[string, (cvm: Cvm) => Promise<unknown>]>([
    ['process', (cvm) => set(cvm, { attested_process: 'p2' })],
    ['token', (cvm) => set(cvm, { attestation: { token_hash: 'of another' } })],
    ['connection', (cvm) => set(cvm, { attested_stream: 's2' })],
    ['present stream', (cvm) => setStream(cvm, 's2', 's1')],
    ['certificate', (cvm) => set(cvm, { certificate_fingerprint: 'of another' })],
  ])('is given no run with a policy if another %s is recorded just before the transaction', async (_what, change) => {
    const cvm = await heldCvm();
    const attestation = { token_hash: 'verified' };
    await set(cvm, { attestation, attested_process: 'p1', attested_stream: 's1' });
    beforeTheNextTransaction(embedded.table, () => change(cvm));
    expect(await bind(cvm, { ...run, ...attestation, process: 'p1' })).toBeUndefined();
    expect(await read(cvm)).toEqual({});
  });

  it('takes a run with a policy in a guest only if no run of any domain has used the guest, unless the policy allows that', async () => {
    const guests = ['ab'.repeat(32)];
    const attestation = { token_hash: 'verified' };
    const [first, second] = [await heldCvm(), await heldCvm()];
    const attested = { attestation, attested_process: 'p1', attested_stream: 's1', guests };
    for (const cvm of [first, second]) await set(cvm, attested);
    expect(await bind(first, run)).toBeDefined();
    const other = { ...run, run_id: 'run-2', process: 'p1', ...attestation };
    expect(await bind(second, other)).toBeUndefined();
    expect(await bind(second, { ...other, allow_used_guest: true })).toBeDefined();
    expect(await bind(first, { ...run, process: 'p1', ...attestation })).toBeDefined(); // the same run once more
    const third = await heldCvm();
    await set(third, attested);
    expect(await bind(third, { ...other, run_id: 'run-3' })).toBeUndefined();
    expect(await bind(third, { ...run, run_id: 'run-3' })).toBeDefined();
  });

  it('begins anew with tokens over another stream, whether or not the process keeps its run', async () => {
    const cvm = await heldCvm();
    const before = await enter(cvm, 'hash');
    expect(await enter(cvm, 'hash', before, false)).toEqual(before);
    const after = await enter(cvm, 'hash', before, false, 's2');
    expect(after).toEqual({ ...before, process, attested_stream: 's2' });
    expect(after?.process).not.toBe(before?.process);
    expect(await enter(cvm, 'hash', before, false, 's3')).toBeUndefined(); // another process was recorded since
  });

  it('has no hash if the process sent no token', async () => {
    const cvm = await heldCvm();
    expect(await enter(cvm, undefined)).toEqual({ process, attested_stream });
    expect(await read(cvm)).toEqual({ process, attested_stream });
  });
});

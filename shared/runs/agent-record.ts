import * as v from 'valibot';
import { cvmKeys, runKeys, type Key } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { getItem, type Table } from '../table/table.ts';
import { ConditionFailedError, transact } from '../table/transaction.ts';
import { putItem, putItemIf } from '../table/writes.ts';

/**
 * What the agent process of a CVM has been given. An agent process serves one run in its life, so the run of this record is the
 * run that its events belong to, also after the run's end.
 */
const agentRecord = v.object({
  /** The run whose manifest was sent to this process. Undefined: none, so the process can take a run. */
  run_id: v.optional(v.string()),
  computation_id: v.optional(v.string()),
  /** The run that was sent last to any process of this CVM, and how often. */
  attempted_run_id: v.optional(v.string()),
  attempts: v.optional(v.number()),
  /**
   * The SHA-256, hex, of the attestation token that this process sent before it was given a run. If it sent none before, of the
   * first one after that.
   */
  attestation_hash: v.optional(v.string()),
});
export type AgentRecord = v.InferOutput<typeof agentRecord>;

interface Cvm {
  domain: string;
  cvmId: string;
}

/**
 * Reads the record, strongly consistent. It is empty for a CVM that has never been given a run.
 * @param get reads its item. Default: alone
 */
export async function readAgentRecord(
  table: Table,
  { domain, cvmId }: Cvm,
  get = (key: Key) => getItem(table, key),
): Promise<AgentRecord> {
  const item = await get(cvmKeys.agent(domain, cvmId));
  return item ? parseStored(agentRecord, item, 'agent record') : {};
}

/** The run that an agent process is about to be given. */
export interface Binding extends AgentRecord {
  run_id: string;
  computation_id: string;
  /** On which the manifest is sent. */
  stream: string;
  /** The fingerprint of the certificate that the stream shows. */
  certificate: string;
}

/**
 * Records that the agent process gets the manifest of a run. Safe to repeat.
 * @returns false if the process has another run by now, if the stream does not take the commands of the CVM any more, or if the CVM is
 * not registered with the stream's certificate any more
 */
export async function bindAgent(
  table: Table,
  { domain, cvmId }: Cvm,
  { stream, certificate, ...record }: Binding,
): Promise<boolean> {
  const put = {
    Item: { ...cvmKeys.agent(domain, cvmId), ...record },
    ConditionExpression: 'attribute_not_exists(run_id) OR run_id = :run_id',
    ExpressionAttributeValues: { ':run_id': record.run_id },
  };
  const check = {
    Key: cvmKeys.cvm(domain, cvmId),
    ConditionExpression: 'held_stream = :stream AND certificate_fingerprint = :certificate',
    ExpressionAttributeValues: { ':stream': stream, ':certificate': certificate },
  };
  try {
    await transact(table, [{ put }, { check }]);
    return true;
  } catch (error) {
    if (error instanceof ConditionFailedError) return false;
    throw error;
  }
}

/** A run, and the hash of the attestation under which it was given to the agent. */
export interface AttestedRun {
  run_id: string;
  computation_id: string;
  attestation_hash?: string | undefined;
}

/**
 * Keeps the attestation token of the agent with the run that it was given, if it is the token with the run's hash. Does nothing
 * if the agent sent none, or has sent another one since.
 */
export async function keepAttestationOfRun(
  table: Table,
  { domain, cvmId }: Cvm,
  { run_id, computation_id, attestation_hash }: AttestedRun,
): Promise<void> {
  if (attestation_hash === undefined) return;
  const item = await getItem(table, cvmKeys.attestation(domain, cvmId));
  if (item?.['hash'] !== attestation_hash) return;
  await putItem(table, { ...item, ...runKeys.attestation(computation_id, run_id) });
}

/** The longest attestation token that is kept; of longer ones, the hash alone is. */
const longestTokenInBytes = 256 * 1024;

export interface AttestedProcess {
  /** The record that was read last. */
  before: AgentRecord;
  /** Whether the process is another one than that of the record, so that it has no run. */
  isNew: boolean;
  attestation: Uint8Array;
  attestation_hash: string;
}

/**
 * Records that an agent process has sent its attestation, and keeps the token with the CVM. Safe to repeat. A process that has a
 * run keeps the hash under which it was given the run.
 * @returns the new record; undefined if a process of the CVM was given a run since `before` was read
 */
export async function recordAgentProcess(
  table: Table,
  { domain, cvmId }: Cvm,
  process: AttestedProcess & { now: string },
): Promise<AgentRecord | undefined> {
  const { before, isNew } = process;
  const { attempted_run_id, attempts } = before;
  const hash = process.attestation.length === 0 ? undefined : process.attestation_hash;
  const record: AgentRecord = isNew
    ? { attempted_run_id, attempts, attestation_hash: hash }
    : { ...before, attestation_hash: before.attestation_hash ?? hash };
  if (process.attestation.length > 0 && process.attestation.length <= longestTokenInBytes) {
    await putItem(table, {
      ...cvmKeys.attestation(domain, cvmId),
      token: process.attestation,
      hash: process.attestation_hash,
      received_at: process.now,
    });
  }
  const isUnchanged = await putItemIf(
    table,
    { ...cvmKeys.agent(domain, cvmId), ...record },
    before.run_id === undefined
      ? { ConditionExpression: 'attribute_not_exists(run_id)' }
      : {
          ConditionExpression: 'attribute_not_exists(run_id) OR run_id = :before',
          ExpressionAttributeValues: { ':before': before.run_id },
        },
  );
  return isUnchanged ? record : undefined;
}

import * as v from 'valibot';
import { cvmKeys, runKeys, type Key } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { getItem, type Table } from '../table/table.ts';
import { ConditionFailedError, transact } from '../table/transaction.ts';
import { putItem, putItemIf } from '../table/writes.ts';

/**
 * What the agent process of a CVM was given. A process serves one run in its life, so its events belong to this run, also after
 * the run's end.
 */
const agentRecord = v.object({
  /** Undefined: the process can take a run. */
  run_id: v.optional(v.string()),
  computation_id: v.optional(v.string()),
  /** The run that was last sent to any process of this CVM, and how often. */
  attempted_run_id: v.optional(v.string()),
  attempts: v.optional(v.number()),
  /** SHA-256, hex, of the first attestation token after the process began, if one came before the run. */
  attestation_hash: v.optional(v.string()),
});
export type AgentRecord = v.InferOutput<typeof agentRecord>;

interface Cvm {
  domain: string;
  cvmId: string;
}

/** Strongly consistent. Empty for a CVM that was never given a run. @param get reads its item. Default: alone */
export async function readAgentRecord(
  table: Table,
  { domain, cvmId }: Cvm,
  get = (key: Key) => getItem(table, key),
): Promise<AgentRecord> {
  const item = await get(cvmKeys.agent(domain, cvmId));
  return item ? parseStored(agentRecord, item, 'agent record') : {};
}

export interface Binding extends AgentRecord {
  run_id: string;
  computation_id: string;
  stream: string;
  /** Fingerprint of the stream's certificate. */
  certificate: string;
}

/**
 * Records that the agent process gets the manifest of a run. Safe to repeat.
 * @returns false if the process has another run, or the stream or its certificate is not the CVM's any more
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

export interface AttestedRun {
  run_id: string;
  computation_id: string;
  attestation_hash?: string | undefined;
}

/** Keeps the agent's attestation token with the run, if the token has the run's hash. */
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

/** Of longer tokens, only the hash is kept. */
const longestTokenInBytes = 256 * 1024;

export interface AttestedProcess {
  /** The record that was read last. */
  before: AgentRecord;
  /** Whether this is another process than that of the record. */
  isNew: boolean;
  attestation: Uint8Array;
  attestation_hash: string;
}

/**
 * Records an attestation, and keeps its token with the CVM. Safe to repeat. A process that has a run keeps the hash under which
 * it got it.
 * @returns undefined if a process of the CVM was given a run since `before` was read
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

import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { cvmKeys, type Key } from '../table/keys.ts';
import { type Table, getItem } from '../table/table.ts';
import { type Action, ConditionFailedError, transact } from '../table/transaction.ts';
import { setAttributes } from '../table/writes.ts';
import { parseStored } from '../table/stored.ts';

/**
 * The schema of the record of the agent process in a CVM. A process serves one run in its life, so its events belong to this run,
 * also after the run's end.
 */
const agentRecord = v.object({
  /** The identifier of the run that the agent process was given. Undefined if the process can take a run. */
  run_id: v.optional(v.string()),
  computation_id: v.optional(v.string()),
  /** The identifier of the run that was last sent to any agent process of the CVM. `attempts`: how often that run was sent. */
  attempted_run_id: v.optional(v.string()),
  attempts: v.optional(v.number()),
  /** The identifier that the service gave the agent process. Undefined until the process has sent an attestation. */
  process: v.optional(v.string()),
  /** The SHA-256, in hex, of the first attestation token that the agent process sent, if a token came before the run. */
  attestation_hash: v.optional(v.string()),
});
export type AgentRecord = v.InferOutput<typeof agentRecord>;

interface Cvm {
  domain: string;
  cvmId: string;
}

/**
 * Reads what the service remembers of the agent process in a CVM, strongly consistent. Empty for a CVM that was never given a
 * run.
 * @param get reads the item of the record. Default: one read of the table for it alone
 */
export async function readAgentRecord(
  table: Table,
  { domain, cvmId }: Cvm,
  get = (key: Key) => getItem(table, key),
): Promise<AgentRecord> {
  const item = await get(cvmKeys.agent(domain, cvmId));
  return item ? parseStored(agentRecord, item, 'agent record') : {};
}

/** The run that an agent process gets, and the stream, certificate and attestation that its CVM must still have then. */
export interface Binding extends AgentRecord {
  /**
   * The SHA-256 of the attestation token that satisfied the attestation policy of the run. Undefined if the run has no policy.
   */
  token_hash?: string | undefined;
  run_id: string;
  computation_id: string;
  stream: string;
  certificate: string;
}

/**
 * Records that the agent process gets the manifest of a run. Safe to repeat.
 * @returns false if the process has another run, or if the CVM no longer has this stream, certificate or attestation
 */
export async function bindAgent(
  table: Table,
  { domain, cvmId }: Cvm,
  { stream, certificate, token_hash, ...record }: Binding,
): Promise<boolean> {
  const put = {
    Item: { ...cvmKeys.agent(domain, cvmId), ...record },
    ConditionExpression: 'attribute_not_exists(run_id) OR run_id = :run_id',
    ExpressionAttributeValues: { ':run_id': record.run_id },
  };
  const check = {
    Key: cvmKeys.cvm(domain, cvmId),
    ConditionExpression: `held_stream = :stream AND certificate_fingerprint = :certificate${token_hash === undefined ? '' : ' AND attestation.token_hash = :token'}`,
    ExpressionAttributeValues: {
      ':stream': stream,
      ':certificate': certificate,
      ...(token_hash === undefined ? {} : { ':token': token_hash }),
    },
  };
  try {
    await transact(table, [{ put }, { check }]);
    return true;
  } catch (error) {
    if (error instanceof ConditionFailedError) return false;
    throw error;
  }
}

/** An agent process that has sent an attestation. */
export interface AttestedProcess {
  before: AgentRecord;
  isNew: boolean;
  /** The SHA-256, in hex, of the attestation token that the agent process sent. Undefined if the token is empty. */
  attestation_hash: string | undefined;
}

/**
 * Records an agent process that has sent an attestation. A new process has no attestation that the service has verified, so that
 * of its CVM is removed. A process that has a run keeps the hash under which it got the run. Safe to repeat.
 * @returns undefined if a process of the CVM was given a run since `before` was read, or the CVM is no longer registered
 */
export async function recordAgentProcess(
  table: Table,
  { domain, cvmId }: Cvm,
  { before, isNew, attestation_hash }: AttestedProcess,
): Promise<AgentRecord | undefined> {
  const { attempted_run_id, attempts } = before;
  const record: AgentRecord = isNew
    ? { attempted_run_id, attempts, process: randomUUID(), attestation_hash }
    : { ...before, process: before.process ?? randomUUID(), attestation_hash: before.attestation_hash ?? attestation_hash };
  const put = {
    Item: { ...cvmKeys.agent(domain, cvmId), ...record },
    ...(before.run_id === undefined
      ? { ConditionExpression: 'attribute_not_exists(run_id)' }
      : {
          ConditionExpression: 'attribute_not_exists(run_id) OR run_id = :before',
          ExpressionAttributeValues: { ':before': before.run_id },
        }),
  };
  try {
    await transact(table, [{ put }, ...(isNew ? [forgetAttestation({ domain, cvmId })] : [])]);
    return record;
  } catch (error) {
    if (error instanceof ConditionFailedError) return undefined;
    throw error;
  }
}

/** Returns the change that removes the verified attestation from a registered CVM. */
function forgetAttestation({ domain, cvmId }: Cvm): Action {
  const update = {
    Key: cvmKeys.cvm(domain, cvmId),
    UpdateExpression: 'SET attestation = :none, had_run = :no REMOVE other_attestations, attested_process',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':none': null, ':no': false },
  };
  return { update };
}

/**
 * Records that a registered CVM, which reports for itself, has restarted its agent: the new process has no attestation yet.
 * Writes nothing if the CVM never attested itself.
 */
export async function restartProcess(table: Table, { domain, cvmId }: Cvm): Promise<void> {
  const { process } = await readAgentRecord(table, { domain, cvmId });
  if (process === undefined) return;
  const update = { Key: cvmKeys.agent(domain, cvmId), ...setAttributes({ process: randomUUID() }) };
  await transact(table, [{ update }, forgetAttestation({ domain, cvmId })]).catch(unlessUnregistered);
}

function unlessUnregistered(error: unknown): void {
  if (!(error instanceof ConditionFailedError)) throw error;
}

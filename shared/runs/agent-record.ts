import * as v from 'valibot';
import { cvmKeys, runKeys } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { getItem, type Table } from '../table/table.ts';
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
  /** The SHA-256, hex, of the attestation token that this process sent. */
  attestation_hash: v.optional(v.string()),
});
export type AgentRecord = v.InferOutput<typeof agentRecord>;

interface Cvm {
  domain: string;
  cvmId: string;
}

/** Reads the record, strongly consistent. It is empty for a CVM that has never been given a run. */
export async function readAgentRecord(table: Table, { domain, cvmId }: Cvm): Promise<AgentRecord> {
  const item = await getItem(table, cvmKeys.agent(domain, cvmId));
  return item ? parseStored(agentRecord, item, 'agent record') : {};
}

/** Records that the agent process gets the manifest of a run. @returns false if it has another run by now */
export function bindAgent(
  table: Table,
  { domain, cvmId }: Cvm,
  record: AgentRecord & { run_id: string; computation_id: string },
): Promise<boolean> {
  return putItemIf(
    table,
    { ...cvmKeys.agent(domain, cvmId), ...record },
    {
      ConditionExpression: 'attribute_not_exists(run_id) OR run_id = :run_id',
      ExpressionAttributeValues: { ':run_id': record.run_id },
    },
  );
}

/** Keeps the attestation token of the agent with the run that it was given. Does nothing if the agent sent none. */
export async function keepAttestationOfRun(
  table: Table,
  { domain, cvmId }: Cvm,
  { run_id, computation_id }: { run_id: string; computation_id: string },
): Promise<void> {
  const item = await getItem(table, cvmKeys.attestation(domain, cvmId));
  if (item) await putItem(table, { ...item, ...runKeys.attestation(computation_id, run_id) });
}

/** The longest attestation token that is kept; of longer ones, the hash alone is. */
const longestTokenInBytes = 256 * 1024;

/**
 * Records that an agent process has sent its attestation, and keeps the token.
 * @param process.kept what the process was given before, without a run for a new process
 */
export async function recordAgentProcess(
  table: Table,
  { domain, cvmId }: Cvm,
  process: { kept: AgentRecord; attestation: Uint8Array; attestation_hash: string; now: string },
): Promise<AgentRecord> {
  const record: AgentRecord = {
    ...process.kept,
    ...(process.attestation.length === 0 ? {} : { attestation_hash: process.attestation_hash }),
  };
  if (process.attestation.length > 0 && process.attestation.length <= longestTokenInBytes) {
    await putItem(table, {
      ...cvmKeys.attestation(domain, cvmId),
      token: process.attestation,
      hash: process.attestation_hash,
      received_at: process.now,
    });
  }
  await putItem(table, { ...cvmKeys.agent(domain, cvmId), ...record });
  return record;
}

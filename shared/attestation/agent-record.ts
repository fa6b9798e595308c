import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { cvmKeys, type Key, runKeys } from '../table/keys.ts';
import { type Table, type Item, getItem, getItems } from '../table/table.ts';
import { type Action, isDone, transact } from '../table/transaction.ts';
import { parseStored } from '../table/stored.ts';
import { type CvmReference, guestsOf } from '../rows/cvm.ts';
import { guestsIn, parseProcessOfRun, useOfGuest } from '../rows/agent-tokens.ts';

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
  /** The identifier of the agent's stream over which the attestation of the process came. Undefined without an attestation. */
  attested_stream: v.optional(v.string()),
  /** The identifier of the stream over which the process got its run, if the run has an attestation policy. */
  bound_stream: v.optional(v.string()),
  /** True if the attestation policy of the run lets the process work over other streams than `bound_stream`. */
  allow_reconnect: v.optional(v.boolean()),
});
export type AgentRecord = v.InferOutput<typeof agentRecord>;

/**
 * Reads what the service remembers of the agent process in a CVM, strongly consistent. Empty for a CVM that was never given a
 * run.
 * @param get reads the item of the record. Default: one read of the table for it alone
 */
export async function readAgentRecord(
  table: Table,
  { domain, cvmId }: CvmReference,
  get = (key: Key) => getItem(table, key),
): Promise<AgentRecord> {
  const item = await get(cvmKeys.agent(domain, cvmId));
  return item ? parseAgentRecord(item) : {};
}

/** Parses the record of an agent process. @param item the stored item, read at `cvmKeys.agent` */
export function parseAgentRecord(item: Item): AgentRecord {
  return parseStored(agentRecord, item, 'agent record');
}

/** The run that an agent process gets, and the stream, certificate and attestation that its CVM must still have then. */
export interface Binding extends AgentRecord {
  /**
   * The SHA-256 of the attestation token that satisfied the attestation policy of the run, which the agent process `process` sent:
   * another process may send the same token. Undefined if the run has no policy.
   */
  token_hash?: string | undefined;
  /** True if the attestation policy of the run lets an SNP guest work that another run has used. */
  allow_used_guest?: boolean | undefined;
  run_id: string;
  computation_id: string;
  stream: string;
  certificate: string;
}

/**
 * Records that the agent process gets the manifest of a run, and that the run uses the SNP guest of the process: by the evidence as the start judged
 * it, too, which may have come before its certificate. Safe to repeat.
 * @returns the record of the process. Undefined if the process has another run, if the CVM no longer has this stream, certificate
 *   or attestation, or if the run has a policy that forbids a guest that another run has used
 */
export async function bindAgent(
  table: Table,
  { domain, cvmId }: CvmReference,
  { stream, certificate, token_hash, allow_reconnect = false, allow_used_guest = false, ...given }: Binding,
): Promise<AgentRecord | undefined> {
  const hasPolicy = token_hash !== undefined;
  const bound = hasPolicy ? { bound_stream: stream, ...(allow_reconnect && { allow_reconnect }) } : {};
  const record: AgentRecord = { ...given, ...bound };
  const keys = [cvmKeys.cvm(domain, cvmId), runKeys.attestation(given.computation_id, given.run_id)];
  const [cvm, ofRun] = await getItems(table, keys);
  const guests = guestsOf(cvm);
  const used = new Set([...guests, ...guestsIn(parseProcessOfRun(ofRun)?.judged ?? [])]);
  const put = {
    Item: { ...cvmKeys.agent(domain, cvmId), ...record },
    ConditionExpression: 'attribute_not_exists(run_id) OR run_id = :run_id',
    ExpressionAttributeValues: { ':run_id': given.run_id },
  };
  const conditions: [string, string, unknown][] = [
    ['held_stream', ':stream', stream],
    ['certificate_fingerprint', ':certificate', certificate],
  ];
  if (hasPolicy)
    conditions.push(['attestation.token_hash', ':token', token_hash], ['attested_process', ':process', given.process]);
  if (hasPolicy && !allow_reconnect) conditions.push(['attested_stream', ':stream', stream]); // defence
  if (guests.length > 0) conditions.push(['guests', ':guests', guests]);
  const check = {
    Key: cvmKeys.cvm(domain, cvmId),
    ConditionExpression: [
      ...conditions.map(([name, placeholder]) => `${name} = ${placeholder}`),
      ...(guests.length > 0 ? [] : ['attribute_not_exists(guests)']),
    ].join(' AND '),
    ExpressionAttributeValues: Object.fromEntries(conditions.map(([, ...entry]) => entry)),
  };
  // Marked before the manifest is sent, not once the agent has accepted: it may take the manifest, and its gateway die at once.
  const uses = [...used].map((guest) => useOfGuest(guest, { domain, run_id: given.run_id }, hasPolicy && !allow_used_guest));
  return (await isDone(transact(table, [{ put }, { check }, ...uses]))) ? record : undefined;
}

/** An agent process that has sent an attestation. */
export interface AttestedProcess {
  before: AgentRecord;
  isNew: boolean;
  /** The SHA-256, in hex, of the attestation token that the agent process sent. Undefined if the token is empty. */
  attestation_hash: string | undefined;
  /** The identifier of the agent's stream over which the attestation came. */
  stream: string;
}

/**
 * Records an agent process that has sent an attestation. A new process has no attestation that the service has verified, so that
 * of its CVM is removed. A process that has a run keeps the hash under which it got the run. The tokens of one stream are those of
 * one process, so tokens over another stream begin anew, under another `process`. Safe to repeat.
 * @returns undefined if a process of the CVM was given a run or attested itself since `before` was read, or the CVM is no longer
 *   registered
 */
export async function recordAgentProcess(
  table: Table,
  { domain, cvmId }: CvmReference,
  { before, isNew, attestation_hash, stream }: AttestedProcess,
): Promise<AgentRecord | undefined> {
  const { attempted_run_id, attempts } = before;
  const isOther = isNew || before.attested_stream !== stream;
  const process = isOther ? randomUUID() : (before.process ?? randomUUID());
  const record: AgentRecord = isNew
    ? { attempted_run_id, attempts, process, attestation_hash, attested_stream: stream }
    : { ...before, process, attestation_hash: before.attestation_hash ?? attestation_hash, attested_stream: stream };
  const isStill = (name: string, placeholder: string, value: string | undefined) =>
    `(attribute_not_exists(${name})${value === undefined ? '' : ` OR ${name} = ${placeholder}`})`;
  const isOfRun = isStill('run_id', ':run_id', before.run_id);
  const isOfProcess = isStill('#process', ':process', before.process);
  const put = {
    Item: { ...cvmKeys.agent(domain, cvmId), ...record },
    ConditionExpression: `${isOfRun} AND (${isOfProcess} OR attested_stream = :stream)`, // of this stream: a repeat
    ExpressionAttributeNames: { '#process': 'process' },
    ExpressionAttributeValues: {
      ':stream': stream,
      ...(before.run_id === undefined ? {} : { ':run_id': before.run_id }),
      ...(before.process === undefined ? {} : { ':process': before.process }),
    },
  };
  const forget = isOther ? [forgetAttestation({ domain, cvmId })] : [];
  return (await isDone(transact(table, [{ put }, ...forget]))) ? record : undefined;
}

/** Returns the change that removes the verified attestation from a registered CVM. */
function forgetAttestation({ domain, cvmId }: CvmReference): Action {
  const update = {
    Key: cvmKeys.cvm(domain, cvmId),
    UpdateExpression: 'SET attestation = :none REMOVE attested_process, attested_stream, guests',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':none': null },
  };
  return { update };
}

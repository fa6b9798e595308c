import * as v from 'valibot';
import { attestationPolicy, collateralMembers, tokenVerdicts, verdicts } from 'computation-management-formats/attestation';
import { detailsIn } from 'computation-management-formats/bytes';
import { coveredReview, decisions } from 'computation-management-formats/consent';
import { algorithmByAgent, decompressByAgent, fetchedByAgent } from 'computation-management-formats/source';
import { approvalLevels, finalStatuses, logAccesses, reasonCodes, loggedActs } from 'computation-management-formats/vocabulary';
import { quoted } from './finding.ts';
import { base64Text } from 'computation-management-formats/fields';

/** The schema of `log` of a statement: the name of the log that has the run's entries, and the key that signs its checkpoints. */
export const statedLog = v.object({ origin: v.string(), vkey: v.string() });

const hash = v.pipe(v.array(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(255))), v.length(32));

/** Returns the members of a schema that are texts, by their names. */
const texts = <const Names extends readonly string[]>(...names: Names) => v.entriesFromList(names, v.string());

/** The schema of an event of the journal with its hash. */
export const chainedEvent = v.object(
  texts('id', 'event_type', 'details', 'run_id', 'timestamp', 'originator', 'cvm_id', 'status', 'previous_hash', 'hash'),
);
export type ChainedEvent = v.InferOutput<typeof chainedEvent>;

/** Names an event in a sentence, by its quoted type and identifier. */
export const nameOf = ({ event_type, id }: ChainedEvent) => `${quoted(event_type)} (${quoted(id)})`;

/** Returns whether an event is the first event of a computation's journal. */
export const isBeginning = ({ event_type, previous_hash }: ChainedEvent): boolean =>
  event_type === 'created' && previous_hash === '';

/** Returns the details of an event, decoded. Empty if they are not a JSON object. */
export const detailsOf = ({ details }: ChainedEvent) => detailsIn(details);

const asset = v.object({
  ...texts('id', 'creator'),
  use: v.picklist(['open', 'approval']),
  checksum: v.string(),
  key: v.nullable(
    v.object({ fingerprint: v.string(), held: v.picklist(['service', 'party']), release_policy: v.nullable(attestationPolicy) }),
  ),
});

const approval = v.object({
  ...texts('user', 'digest', 'configuration_digest'),
  cvm_ids: v.nullable(v.array(v.string())),
  ...v.entriesFromList(['expires_at', 'signature', 'key'], v.nullable(v.string())),
  max_runs: v.nullable(v.number()),
  use: v.nullable(v.number()),
  approval_id: v.nullable(v.string()),
  journal_head: v.nullable(v.object({ id: v.string(), hash: v.string() })),
  approved_at: v.string(),
});
export type Approval = v.InferOutput<typeof approval>;

const file = v.object({ hash, user_key: v.string(), ...fetchedByAgent });

/**
 * The schema of a statement: the members that every statement has (docs/contract.md, section 10), and which of them may be null.
 * Declared here and not taken from the service, because a service must not be able to leave out what it does not want to show.
 * Members of other names are found by `unknownMembers`.
 */
export const statementSchema = v.object({
  type: v.literal('computation-evidence:v1'),
  ...texts('domain', 'computation'),
  run: v.object({
    ...texts('id', 'computation_id', 'cvm_id'),
    status: v.picklist(finalStatuses),
    ...texts('started_at', 'ended_at', 'started_by'),
    reason: v.nullable(v.string()),
    reason_code: v.nullable(v.picklist(reasonCodes)),
    ...texts('manifest_digest', 'configuration_digest'),
  }),
  manifest: v.object({
    ...texts('id', 'name', 'description'),
    datasets: v.array(v.object({ ...file.entries, filename: v.string(), decompress: decompressByAgent })),
    algorithm: v.object({ ...file.entries, ...algorithmByAgent }),
    result_consumers: v.array(v.object({ user_key: v.string() })),
  }),
  manifest_digest: v.string(),
  configuration: v.object({
    agent_config: v.object({ ...texts('cert_file', 'server_ca_file', 'client_ca_file'), attested_tls: v.boolean() }),
    approval: v.picklist(approvalLevels),
    attestation_policy: v.nullable(attestationPolicy),
    log_access: v.picklist(logAccesses),
    result_review: v.nullable(coveredReview),
  }),
  configuration_digest: v.string(),
  assets: v.array(asset),
  approval: v.picklist(approvalLevels),
  result_consumers: v.array(v.string()),
  approvals: v.array(approval),
  events: v.object({ started: chainedEvent, last: chainedEvent }),
  attestation: v.nullable(
    v.object({
      verdict: v.picklist(verdicts),
      checks: v.array(v.object({ name: v.string(), passed: v.boolean(), detail: v.string() })),
      tokens: v.array(
        v.object({
          ...texts('kind', 'hash'),
          verdict: v.picklist(tokenVerdicts),
          verified_at: v.string(),
          collateral: v.array(v.object(v.entriesFromList(collateralMembers, v.string()))),
        }),
      ),
    }),
  ),
  certificate: v.nullable(v.string()),
  certificate_fingerprint: v.nullable(v.string()),
  log: statedLog,
  ...texts('service_version', 'issued_at'),
});
export type Statement = v.InferOutput<typeof statementSchema>;

/** The schema of a statement about the result of a run: the members that every such statement has (docs/contract.md, section 13). */
export const resultStatementSchema = v.object({
  type: v.literal('computation-result:v1'),
  ...texts('domain', 'computation', 'run', 'manifest_digest', 'configuration_digest'),
  result_review: coveredReview,
  state: v.picklist(['released', 'withheld']),
  ...texts('asset', 'checksum'),
  size: v.number(),
  decisions: v.array(
    v.object({
      reviewer: v.string(),
      decision: v.picklist(decisions),
      ...texts('note', 'decided_at', 'checksum'),
      signature: v.nullable(v.string()),
      key: v.nullable(v.string()),
    }),
  ),
  event: chainedEvent,
  log: statedLog,
  ...texts('service_version', 'issued_at'),
});
export type ResultStatement = v.InferOutput<typeof resultStatementSchema>;

/**
 * Returns the paths of the members of a value that its schema does not list: nobody checks them. `known` is what the schema
 * returned for the value. Members are compared by their own names, so that one named `constructor` or `__proto__` is found too.
 */
export function unknownMembers(value: unknown, known: unknown, path: readonly string[] = []): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const place = [...path, name];
    if (!Object.hasOwn(known as object, name)) return [place.join('.')];
    return unknownMembers(inner, (known as Record<string, unknown>)[name], place);
  });
}

/** The schema of `log` beside a statement: where the log has each entry of the run, and the proofs. Not signed: the proofs are. */
export const logProofs = v.object({
  entries: v.array(
    v.object({
      type: v.picklist(loggedActs),
      /** The place of the entry in the log, from 0. */
      index: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
      /** The salt of the entry: 16 bytes in base64. */
      salt: base64Text,
      /** The text of a C2SP tlog-proof. */
      proof: v.string(),
    }),
  ),
});
export type LogProofs = v.InferOutput<typeof logProofs>;

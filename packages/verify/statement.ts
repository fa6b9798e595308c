import { collateralMembers, platforms, tcbStatuses, tokenVerdicts, verdicts } from 'computation-management-formats/attestation';
import { detailsIn } from 'computation-management-formats/bytes';
import { algorithmByAgent, decompressByAgent, fetchedByAgent } from 'computation-management-formats/source';
import { approvalLevels, finalStatuses, logAccesses, reasonCodes } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { quoted } from './finding.ts';

const hash = v.pipe(v.array(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(255))), v.length(32));

/** The schema of an event of the journal with its hash. */
export const chainedEvent = v.object({
  id: v.string(),
  event_type: v.string(),
  details: v.string(),
  run_id: v.string(),
  timestamp: v.string(),
  originator: v.string(),
  cvm_id: v.string(),
  status: v.string(),
  previous_hash: v.string(),
  hash: v.string(),
});
export type ChainedEvent = v.InferOutput<typeof chainedEvent>;

/** Names an event in a sentence, by its quoted type and identifier. */
export const nameOf = ({ event_type, id }: ChainedEvent) => `${quoted(event_type)} (${quoted(id)})`;

/** Returns whether an event is the first event of a computation's journal. */
export function isBeginning({ event_type, previous_hash }: ChainedEvent): boolean {
  return event_type === 'created' && previous_hash === '';
}

/** Returns the details of an event, decoded. Empty if they are not a JSON object. */
export const detailsOf = ({ details }: ChainedEvent) => detailsIn(details);

const asset = v.object({
  id: v.string(),
  creator: v.string(),
  use: v.picklist(['open', 'approval']),
  checksum: v.string(),
  key: v.null_(),
});

const approval = v.object({
  user: v.string(),
  digest: v.string(),
  configuration_digest: v.string(),
  cvm_ids: v.nullable(v.array(v.string())),
  expires_at: v.nullable(v.string()),
  signature: v.nullable(v.string()),
  key: v.nullable(v.string()),
  max_runs: v.null_(),
  use: v.null_(),
  approval_id: v.null_(),
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
  domain: v.string(),
  computation: v.string(),
  run: v.object({
    id: v.string(),
    computation_id: v.string(),
    cvm_id: v.string(),
    status: v.picklist(finalStatuses),
    started_at: v.string(),
    ended_at: v.string(),
    started_by: v.string(),
    reason: v.nullable(v.string()),
    reason_code: v.nullable(v.picklist(reasonCodes)),
    manifest_digest: v.string(),
    configuration_digest: v.string(),
  }),
  manifest: v.object({
    id: v.string(),
    name: v.string(),
    description: v.string(),
    datasets: v.array(v.object({ ...file.entries, filename: v.string(), decompress: decompressByAgent })),
    algorithm: v.object({ ...file.entries, ...algorithmByAgent }),
    result_consumers: v.array(v.object({ user_key: v.string() })),
  }),
  manifest_digest: v.string(),
  configuration: v.object({
    agent_config: v.object({
      cert_file: v.string(),
      server_ca_file: v.string(),
      client_ca_file: v.string(),
      attested_tls: v.boolean(),
    }),
    approval: v.picklist(approvalLevels),
    attestation_policy: v.nullable(
      v.object({
        platforms: v.array(v.picklist(platforms)),
        measurements: v.array(v.string()),
        pcrs: v.nullable(v.object({ sha256: v.record(v.string(), v.string()) })),
        vmpl: v.number(),
        minimum_tcb: v.nullable(
          v.object({
            bootloader: v.number(),
            tee: v.number(),
            snp: v.number(),
            microcode: v.number(),
            fmc: v.nullable(v.number()),
          }),
        ),
        accepted_tcb_statuses: v.array(v.picklist(tcbStatuses)),
        accepted_advisories: v.array(v.string()),
        allow_debug: v.boolean(),
        allow_reconnect: v.boolean(),
        allow_used_guest: v.boolean(),
      }),
    ),
    log_access: v.picklist(logAccesses),
    result_review: v.null_(),
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
          kind: v.string(),
          hash: v.string(),
          verdict: v.picklist(tokenVerdicts),
          verified_at: v.string(),
          collateral: v.array(v.object(v.entriesFromList(collateralMembers, v.string()))),
        }),
      ),
    }),
  ),
  certificate: v.nullable(v.string()),
  certificate_fingerprint: v.nullable(v.string()),
  log: v.null_(),
  service_version: v.string(),
  issued_at: v.string(),
});
export type Statement = v.InferOutput<typeof statementSchema>;

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

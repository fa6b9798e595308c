import { domainId, identifier } from 'computation-management-formats/identifiers';
import { decisions, longestNote } from 'computation-management-formats/consent';
import * as v from 'valibot';
import { longestRefusal, shownText } from 'computation-management-formats/fields';
import {
  type AdministrativeEvent,
  assetTypes,
  type LifecycleEvent,
  reasonCodes,
} from 'computation-management-formats/vocabulary';
import { journalKeys } from '../../shared/table/keys.ts';
import { eventSchema } from '../../shared/journal/journal.ts';
import { mostKeptTokens } from '../../shared/rows/attestation.ts';
import { longestReason } from '../../shared/rows/run.ts';

/**
 * The filter of the pipe to the event bus. It passes the records of the table's stream that leave the service: new events of the
 * journals of computations.
 */
export const journalFilter = {
  eventName: ['INSERT'],
  dynamodb: {
    Keys: { pk: { S: [{ prefix: journalKeys.partition('') }] }, sk: { S: [{ prefix: journalKeys.prefixes.event }] } },
  },
};

const { id, event_type, details, run_id, timestamp, originator, cvm_id, status } = eventSchema.entries;

/**
 * The schema of an event of a computation on the event bus. EventBridge wraps the event in an envelope of its own, as the field
 * `detail`.
 */
export const busEventSchema = v.pipe(
  v.object({
    domain: v.pipe(domainId, v.description('The domain of the computation.')),
    computation_id: v.pipe(identifier, v.description('The computation.')),
    number: v.pipe(
      v.string(),
      v.regex(/^[1-9][0-9]{0,14}$/),
      v.description('The number of the event in its computation, as digits: 1, 2, 3, ... without a gap. It orders the events.'),
      v.metadata({ maxLength: 15, examples: ['1', '42'] }),
    ),
    id,
    event_type,
    details,
    run_id,
    timestamp,
    originator,
    cvm_id,
    status,
    hash_base64: v.pipe(
      v.string(),
      v.regex(/^[A-Za-z0-9+/]{43}=$/),
      v.description('The `hash` of the event, which the API returns as hex digits, in base64.'),
      v.metadata({ maxLength: 44 }),
    ),
  }),
  v.title('ComputationEvent'),
);

export type BusEvent = v.InferOutput<typeof busEventSchema>;

/**
 * The attributes of a stored event, each with its type in DynamoDB's JSON, from which fields of the event on the bus are taken. The
 * other fields are texts, from attributes of their names. Bytes are base64 in DynamoDB's JSON.
 */
const sources: Partial<Record<keyof BusEvent, string>> = { number: 'number.N', details: 'details.B', hash_base64: 'hash.B' };

/**
 * The input template of the pipe to the event bus, which makes an event of a record of the table's stream. A variable without
 * quotes becomes the JSON of its value. A missing attribute would leave the JSON invalid, so each attribute exists in all items
 * that pass the filter.
 */
export const busEventTemplate = `{${(Object.keys(busEventSchema.entries) as (keyof BusEvent)[])
  .map((field) => `"${field}":<$.dynamodb.NewImage.${sources[field] ?? `${field}.S`}>`)
  .join(',')}}`;

const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/), v.metadata({ maxLength: 64 }));
const assetId = v.pipe(v.string(), v.metadata({ format: 'uuid' }));
const assetDetails = v.object({ asset_id: assetId, file_name: shownText(255), asset_type: v.picklist(assetTypes) });
const token_hashes = v.optional(
  v.pipe(
    v.array(sha256),
    v.description('The SHA-256 of the attestation tokens that count for the run.'),
    v.metadata({ maxItems: mostKeptTokens }),
  ),
);
const accepted = v.optional(
  v.pipe(v.literal(false), v.description('No CVM accepted the run, so it uses none of the runs of its approvals.')),
);
const reason = v.pipe(shownText(longestReason), v.description('A sentence that may change.'));

/**
 * The schemas of the decoded `details` of an event, by the type of the event, for the events that the service itself records.
 * Agents choose the details of their own events. Later versions may add fields.
 */
export const eventDetails = {
  created: v.object({ name: shownText(200), owner: shownText(255) }),
  started: v.object({
    manifest_digest: sha256,
    configuration_digest: sha256,
    start_digest: v.pipe(sha256, v.description('Of what the run was started with, as its evidence states it.')),
    allow_reconnect: v.optional(v.pipe(v.literal(true), v.description('The run may go on over a later connection of its CVM.'))),
  }),
  stop_requested: v.object({}),
  completed: v.object({ reason, token_hashes, accepted }),
  failed: v.object({
    reason,
    token_hashes,
    accepted,
    reason_code: v.optional(v.pipe(v.picklist(reasonCodes), v.description('As of the run.'))),
  }),
  cancelled: v.object({
    reason,
    token_hashes,
    accepted,
    confirmed: v.pipe(v.boolean(), v.description('Whether the CVM confirmed the stop.')),
  }),
  updated: v.object({ fields: v.pipe(v.array(shownText(64)), v.description('The names of the changed fields.')) }),
  owner_changed: v.object({ from: shownText(255), to: shownText(255) }),
  asset_linked: assetDetails,
  asset_unlinked: assetDetails,
  key_uploaded: v.object({ fingerprint: shownText(64) }),
  key_removed: v.object({ user: shownText(255), fingerprint: shownText(64) }),
  approved: v.object({
    digest: sha256,
    configuration_digest: sha256,
    signed: v.boolean(),
    cvm_ids: v.optional(v.array(shownText(64))),
    expires_at: v.optional(shownText(35)),
    max_runs: v.optional(v.number()),
    approval_id: v.optional(shownText(36)),
  }),
  approval_withdrawn: v.object({
    digest: v.optional(v.pipe(sha256, v.description('Of the approval. Absent if the user has withdrawn a refusal.'))),
  }),
  approval_refused: v.object({ reason: shownText(longestRefusal) }),
  result_submitted: v.object({ asset: shownText(36), file_name: shownText(255), checksum: sha256, size: v.number() }),
  result_decided: v.object({
    asset: shownText(36),
    checksum: sha256,
    decision: v.picklist(decisions),
    note: shownText(longestNote),
    signed: v.boolean(),
  }),
  result_released: v.object({ asset: shownText(36), checksum: sha256 }),
  result_withheld: v.object({ asset: shownText(36), checksum: sha256 }),
  key_released: v.object({
    asset: assetId,
    number: v.pipe(v.number(), v.description('Of the key, from 1: it grows with each other key.')),
    fingerprint: v.pipe(sha256, v.description('The SHA-256 of the key.')),
    evidence: v.pipe(sha256, v.description('The SHA-256 of the evidence that the CVM sent.')),
    tee_key: v.pipe(shownText(43), v.description('The RFC 7638 thumbprint of the key for which the released key is encrypted.')),
  }),
  key_refused: v.object({ asset: assetId, reason }),
} satisfies Record<LifecycleEvent | AdministrativeEvent, v.GenericSchema>;

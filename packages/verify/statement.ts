import * as v from 'valibot';

const hash = v.array(v.number());

/** An event with its hash, whatever else it has. */
export const chainedEvent = v.looseObject({
  id: v.string(),
  event_type: v.string(),
  run_id: v.string(),
  timestamp: v.string(),
  originator: v.string(),
  cvm_id: v.string(),
  previous_hash: v.optional(v.string()),
  hash: v.optional(v.string()),
});
export type ChainedEvent = v.InferOutput<typeof chainedEvent>;

/** Names an event in a sentence. */
export const nameOf = ({ event_type, id }: ChainedEvent) => `${event_type} (${id})`;

/** Returns the details that the service itself wrote. None if they are no JSON object, as those of an agent may be. */
export function detailsOf({ details }: ChainedEvent): Record<string, unknown> {
  if (typeof details !== 'string') return {};
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.unknown())), fromBase64(details));
  return read.success ? read.output : {};
}

const fromBase64 = (text: string) => Buffer.from(text, 'base64').toString('utf8');

const asset = v.looseObject({ id: v.string(), creator: v.string(), use: v.string(), checksum: v.string() });

const approval = v.looseObject({
  user: v.string(),
  digest: v.string(),
  cvm_ids: v.nullable(v.array(v.string())),
  expires_at: v.nullable(v.string()),
  signature: v.nullable(v.string()),
  key: v.nullable(v.string()),
});
export type Approval = v.InferOutput<typeof approval>;

/**
 * The parts of a statement that are checked (docs/contract.md, section 10). Declared here and not taken from the service, so that a
 * statement of any version can be checked.
 */
export const statementSchema = v.looseObject({
  type: v.literal('computation-evidence:v1'),
  domain: v.string(),
  computation: v.string(),
  run: v.looseObject({
    id: v.string(),
    computation_id: v.string(),
    cvm_id: v.string(),
    status: v.string(),
    started_at: v.string(),
    started_by: v.string(),
  }),
  manifest: v.looseObject({
    id: v.string(),
    datasets: v.array(v.looseObject({ hash })),
    algorithm: v.looseObject({ hash }),
    result_consumers: v.array(v.looseObject({ user_key: v.string() })),
  }),
  manifest_digest: v.string(),
  agent_config: v.looseObject({}),
  assets: v.nullable(v.array(asset)),
  approvals: v.nullable(v.array(approval)),
  approval: v.optional(v.nullable(v.string())),
  result_consumers: v.optional(v.nullable(v.array(v.string()))),
  events: v.looseObject({ started: chainedEvent, last: chainedEvent }),
  attestation_hash: v.nullable(v.string()),
});
export type Statement = v.InferOutput<typeof statementSchema>;

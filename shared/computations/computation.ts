import * as v from 'valibot';
import { runSchema } from './run.ts';
import { identifier } from '../identifier-schemas.ts';
import { text } from '../text.ts';
import { timestamp } from '../timestamp.ts';
import { agentConfigInput, agentConfigOutput } from './agent-config.ts';
import { strictObject } from '../strict-object.ts';

export const computationStatuses = ['created', 'running', 'stopping', 'completed', 'failed', 'cancelled'] as const;
export type ComputationStatus = (typeof computationStatuses)[number];

const userId = v.pipe(text(1, 255), v.description("A user: the token's `sub`."));

/** The fields of the row that users set. Without `owner`, because its default depends on the caller. */
const givenFields = {
  name: v.pipe(text(1, 200), v.description('1 to 200 characters.'), v.examples(['Average income by region'])),
  description: v.optional(v.pipe(text(0, 4000), v.description('At most 4,000 characters.')), ''),
};

const inputEntries = {
  ...givenFields,
  owner: v.optional(v.pipe(userId, v.description('The caller unless told; naming someone else takes administrator.'))),
  agent_config: v.optional(agentConfigInput, {}),
};

/** Body of endpoint 1. */
export const computationInput = strictObject(inputEntries);

/** A field that the service returns. A PUT accepts and ignores it, so that clients can send back what they read. */
const returned = v.optional(v.pipe(v.unknown(), v.description('Ignored: written by the service.')));

/** Body of endpoint 4: a full replacement. Without `owner`, the owner stays the same. */
export const computationReplacement = strictObject({
  ...inputEntries,
  id: returned,
  status: returned,
  created_at: returned,
  updated_at: returned,
  assets: returned,
  run: returned,
});

/** A computation in a listing. */
export const computationRow = v.object({
  id: identifier,
  name: v.string(),
  description: v.string(),
  owner: v.string(),
  status: v.picklist(computationStatuses),
  created_at: timestamp,
  updated_at: timestamp,
});

/** A computation's stored row: its fields, its latest run, and the versions that guard changes. */
export const storedComputation = v.object({
  ...computationRow.entries,
  run: v.nullable(runSchema),
  /** Incremented by every change of the row. */
  version: v.number(),
  /** Incremented by every change of links or keys, so that a run starts with the inputs that were checked. */
  inputs_version: v.number(),
  dataset_count: v.number(),
});
export type StoredComputation = v.InferOutput<typeof storedComputation>;

const givenSchema = v.object(givenFields);

/** The fields of the row that users set when they create or replace a computation. */
export type ComputationFields = v.InferOutput<typeof givenSchema> & Pick<StoredComputation, 'owner'>;

/** Picks these fields from the body of endpoint 1 or 4. */
export function fieldsOf(body: v.InferOutput<typeof givenSchema>, owner: string): ComputationFields {
  return { ...v.parse(givenSchema, body), owner };
}

const linkedAsset = v.object({
  id: identifier,
  file_name: v.string(),
  asset_type: v.picklist(['algorithm', 'dataset']),
});

/** A computation with all its fields. */
export const computationSchema = v.object({
  ...computationRow.entries,
  agent_config: agentConfigOutput,
  assets: v.pipe(v.array(linkedAsset), v.description('The algorithm first, then the datasets in the order they were linked.')),
  run: v.pipe(v.nullable(runSchema), v.description('The latest run; null when never run.')),
});
export type Computation = v.InferOutput<typeof computationSchema>;

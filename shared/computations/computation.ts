import * as v from 'valibot';
import { assetTypes } from '../asset-type.ts';
import { identifier } from '../identifier-schemas.ts';
import { isReservedName } from '../originators.ts';
import { strictObject } from '../strict-object.ts';
import { description, shownDescription } from '../description.ts';
import { returnedField } from '../returned-field.ts';
import { shownText, text } from '../text.ts';
import { timestamp } from '../timestamp.ts';
import { agentConfigInput, agentConfigOutput } from './agent-config.ts';
import { runSchema, runStatuses } from './run.ts';

export const computationStatuses = ['created', ...runStatuses] as const;
export type ComputationStatus = (typeof computationStatuses)[number];

/** Whose approval a run needs, from the least to the most (docs/contract.md, section 9). */
export const approvalLevels = ['none', 'all', 'all_signed'] as const;
export type ApprovalLevel = (typeof approvalLevels)[number];

const approval = v.pipe(
  v.picklist(approvalLevels),
  v.description(
    'Whose approval a run needs, in addition to the creators of assets whose `use` is `approval`. `none`: nobody else. `all`: the ' +
      'creators of all assets and all result consumers. `all_signed`: the same users, each with a signature. You can raise the level, but ' +
      'not lower it.',
  ),
);

const userId = v.pipe(
  text(1, 255),
  v.check((user) => !isReservedName(user), 'Expected a user. This name is reserved for the events of the service and of agents.'),
);

export const mostConsumers = 40;
const consumers = v.pipe(
  v.array(userId),
  v.maxLength(mostConsumers, `Expected up to ${mostConsumers} users.`),
  v.transform((users) => [...new Set(users)]),
  v.description(
    `The result consumers in addition to the owner: up to ${mostConsumers} users (\`sub\`). If empty: all users who had the role ` +
      '`result_consumer` when they uploaded a key.',
  ),
);

/** The fields of the row that users set. Without `owner`, because its default depends on the caller. */
const givenFields = {
  name: v.pipe(text(1, 200), v.description('The name. 1 to 200 characters.'), v.examples(['Average income by region'])),
  description: v.optional(description, ''),
};

const inputEntries = {
  ...givenFields,
  owner: v.optional(
    v.pipe(userId, v.description("The owner, a user's `sub`. Default: the caller. Only administrators can set another user.")),
  ),
  agent_config: v.optional(agentConfigInput, {}),
  approval: v.optional(approval, 'none'),
  consumers: v.optional(consumers, []),
};

/** The body of endpoint 1. */
export const computationInput = v.pipe(strictObject(inputEntries), v.title('ComputationInput'));

/** The body of endpoint 4: a full replacement. Without `owner` or `approval`, these stay the same. */
export const computationReplacement = v.pipe(
  strictObject({
    ...inputEntries,
    owner: v.optional(
      v.pipe(
        userId,
        v.description("The owner, a user's `sub`. If omitted, stays the same. Only administrators can set another user."),
      ),
    ),
    approval: v.optional(approval),
    id: returnedField,
    status: returnedField,
    created_at: returnedField,
    updated_at: returnedField,
    assets: returnedField,
    run: returnedField,
  }),
  v.title('ComputationReplacement'),
);

const rowEntries = {
  id: identifier,
  name: shownText(200),
  description: shownDescription,
  owner: v.pipe(shownText(255), v.description("The owner, a user's `sub`.")),
  status: v.picklist(computationStatuses),
  created_at: timestamp,
  updated_at: timestamp,
};

/** A computation in a list. */
export const computationRow = v.pipe(v.object(rowEntries), v.title('ComputationRow'));

/** Leaves out what only the stored row has. */
export function rowOf(stored: StoredComputation): v.InferOutput<typeof computationRow> {
  return v.parse(computationRow, stored);
}

/** The stored row of a computation, with its latest run and the versions that guard changes. Without its configuration. */
export const storedComputation = v.object({
  ...rowEntries,
  run: v.nullable(runSchema),
  /** Incremented by every change of the row. */
  version: v.number(),
  /** Incremented by every change of links or keys, so that a run starts with the inputs that were checked. */
  inputs_version: v.number(),
  dataset_count: v.number(),
  /** Earlier versions stored none. */
  approval: v.optional(v.picklist(approvalLevels), 'none'),
});
export type StoredComputation = v.InferOutput<typeof storedComputation>;

const givenSchema = v.object(givenFields);

/** The fields of the row that users set when they create or replace a computation. */
export type ComputationFields = v.InferOutput<typeof givenSchema> & Pick<StoredComputation, 'owner' | 'approval'>;

/** Picks these fields from the body of endpoint 1 or 4. */
export function fieldsOf(
  body: v.InferOutput<typeof givenSchema>,
  { owner, approval }: Pick<StoredComputation, 'owner' | 'approval'>,
): ComputationFields {
  return { ...v.parse(givenSchema, body), owner, approval };
}

const linkedAsset = v.pipe(
  v.object({
    id: identifier,
    file_name: shownText(255),
    asset_type: v.picklist(assetTypes),
  }),
  v.title('AssetOfComputation'),
);

const detailEntries = {
  agent_config: agentConfigOutput,
  approval,
  consumers: v.pipe(
    v.array(shownText(255)),
    v.description(
      'The result consumers in addition to the owner. If empty: all users who had the role `result_consumer` when they uploaded a key.',
    ),
    v.metadata({ maxItems: mostConsumers }),
  ),
  assets: v.pipe(
    v.array(linkedAsset),
    v.description('The linked assets: the algorithm, then the datasets in the order in which they were linked.'),
    v.metadata({ maxItems: 101 }),
  ),
  run: v.pipe(v.nullable(runSchema), v.description('The latest run. null if the computation was never run.')),
};

/** A computation with its configuration, assets and latest run. */
export const computationSchema = v.pipe(v.object({ ...rowEntries, ...detailEntries }), v.title('Computation'));

/** The answer of endpoint 3: with `peek` the row alone. One type for both keeps the fields usable in generated clients. */
export const computationView = v.pipe(
  v.object({ ...rowEntries, ...v.partial(v.object(detailEntries)).entries }),
  v.title('ComputationView'),
);
export type Computation = v.InferOutput<typeof computationSchema>;

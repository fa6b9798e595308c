import { attestationPolicy, attestationPolicyInput } from 'computation-management-formats/attestation';
import {
  computationName,
  description,
  returnedField,
  shownDescription,
  shownText,
  strictObject,
  userId,
} from 'computation-management-formats/fields';
import { idOfAsset, idOfComputation, numberOf } from 'computation-management-formats/identifiers';
import { createdAt, updatedAt } from 'computation-management-formats/timestamps';
import {
  type ApprovalLevel,
  approvalLevels,
  assetTypes,
  computationStatuses,
  logAccesses,
  mostConsumers,
  mostProviders,
} from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { invalid, notFound } from '../runtime/errors.ts';
import { agentConfigInput, agentConfigOutput } from './agent-config.ts';
import { runSchema, type Run, isActive } from './run.ts';
import { type RowKey, listKeys, lists } from '../table/keys.ts';
import { type Item, type Table, getItem } from '../table/table.ts';
import { parseStored } from '../table/stored.ts';

const computationStatus = v.pipe(
  v.picklist(computationStatuses),
  v.description('The status of the computation: `created` until its first run, then the status of its latest run.'),
);

const approval = v.pipe(
  v.picklist(approvalLevels),
  v.description(
    'Whose approval a run needs, in addition to the creators of assets whose `use` is `approval`. `none`: nobody else. `all`: the ' +
      'creators of all assets and all result consumers. `all_signed`: the same users, each with a signature. You can raise the level, but ' +
      'not lower it.',
  ),
);

const logAccess = v.pipe(
  v.picklist(logAccesses),
  v.description(
    'Who may read the logs of runs. `none`: nobody. `parties`: the owner, the result consumers, and the creators of assets if ' +
      '`approval` is not `none` or `providers` is set. A run keeps the setting with which it started.',
  ),
);

export const datasetsPerComputation = 100;
/** The most assets of a computation: its datasets and its algorithm. */
export const assetsPerComputation = datasetsPerComputation + 1;

const consumers = v.pipe(
  v.array(userId),
  v.maxLength(mostConsumers, `Expected up to ${mostConsumers} users.`),
  v.description(
    `The result consumers in addition to the owner: up to ${mostConsumers} users (\`sub\`). If empty: all users who had the role ` +
      '`result_consumer` when they uploaded a key.',
  ),
  v.transform((users) => [...new Set(users)]),
);

const providers = v.pipe(
  v.array(userId),
  v.maxLength(mostProviders, `Expected up to ${mostProviders} users.`),
  v.description(
    `The users who may link their own assets, beside the owner and administrators: up to ${mostProviders} (\`sub\`). If empty: all users.`,
  ),
  v.transform((users) => [...new Set(users)]),
);

const resultReview = v.pipe(
  v.null_('Expected null: reviews of results are not supported yet.'),
  v.description('Who decides on the release of results. null: results go to the result consumers without a review.'),
);

const ofPolicy = 'Which CVMs may run the computation. null: any.';
const policy = v.pipe(v.nullable(attestationPolicyInput), v.description(ofPolicy));

/**
 * Schemas of the fields of a computation that users give, in the body of a request and in the row. `owner` is not among them,
 * because its default depends on the caller.
 */
const givenFields = {
  name: computationName,
  description: v.optional(description, ''),
};

const inputEntries = {
  ...givenFields,
  owner: v.optional(
    v.pipe(userId, v.description("The owner, a user's `sub`. Default: the caller. Only administrators can set another user.")),
  ),
  agent_config: v.optional(agentConfigInput, {}),
  approval: v.optional(approval, 'none'),
  log_access: v.optional(logAccess, 'none'),
  attestation_policy: v.optional(policy, null),
  result_review: v.optional(resultReview, null),
  consumers: v.optional(consumers, []),
  providers: v.optional(providers, []),
};

export const computationInput = v.pipe(
  strictObject(inputEntries),
  v.title('ComputationInput'),
  v.description('The request to create a computation.'),
);

/**
 * Schema of the body of endpoint 4 (replace a computation), which replaces all fields of a computation. Some fields stay the
 * same if they are omitted.
 */
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
    log_access: v.optional(logAccess),
    attestation_policy: v.optional(policy),
    result_review: v.optional(resultReview),
    consumers: v.optional(consumers),
    providers: v.optional(providers),
    id: returnedField,
    status: returnedField,
    created_at: returnedField,
    updated_at: returnedField,
    assets: returnedField,
    parties: returnedField,
    run: returnedField,
  }),
  v.title('ComputationReplacement'),
  v.description(
    'All fields of a computation. If `owner`, `approval`, `log_access`, `attestation_policy`, `result_review`, `consumers` or `providers` is omitted, it stays the same. Other ' +
      'omitted fields get their defaults.',
  ),
);

export const nameOfComputation = v.pipe(shownText(200), v.description('The name of the computation.'));

const rowEntries = {
  id: idOfComputation,
  name: nameOfComputation,
  description: shownDescription,
  owner: v.pipe(shownText(255), v.description("The owner, a user's `sub`.")),
  status: computationStatus,
  created_at: createdAt,
  updated_at: updatedAt,
};

export const computationRow = v.pipe(v.object(rowEntries), v.title('ComputationRow'), v.description('A computation in a list.'));

/** Returns the fields of a computation that a list shows. */
export function rowOf(stored: StoredComputation): v.InferOutput<typeof computationRow> {
  return v.parse(computationRow, stored);
}

/** Schema of the row of a computation, as it is stored. */
export const storedComputation = v.object({
  ...rowEntries,
  run: v.nullable(runSchema),
  /**
   * The version of the computation. Every change of the row, of links and of keys increments it, so that a run starts with the
   * inputs that were checked.
   */
  version: v.number(),
  dataset_count: v.number(),
  created_by: v.string(),
  /** The number of runs of the computation that have ended, by status. */
  run_counts: v.partial(v.object({ completed: v.number(), failed: v.number(), cancelled: v.number() })),
  approval: v.picklist(approvalLevels),
  log_access: v.picklist(logAccesses),
  /** The number of users whose refusal to approve the computation stands. */
  refusal_count: v.number(),
});
export type StoredComputation = v.InferOutput<typeof storedComputation>;

const givenSchema = v.object(givenFields);

/** Fields of a computation whose default depends on the caller or on the row. */
type Settings = Pick<StoredComputation, 'owner' | 'approval' | 'log_access'>;
/** The fields of a computation that users give. */
export type ComputationFields = v.InferOutput<typeof givenSchema> & Settings;

/** Returns the fields for the row from the body of a request and from settings that depend on the caller or on the row. */
export function fieldsOf(body: v.InferOutput<typeof givenSchema>, settings: Settings): ComputationFields {
  return { ...v.parse(givenSchema, body), ...settings };
}

const linkedAsset = v.pipe(
  v.object({
    id: idOfAsset,
    file_name: v.pipe(shownText(255), v.description('The name of the file.')),
    asset_type: v.pipe(v.picklist(assetTypes), v.description('Whether the asset is an algorithm or a dataset.')),
  }),
  v.title('AssetOfComputation'),
  v.description('An asset that is linked to a computation.'),
);

/** The most keys, and the most approvals and refusals each, from which the parties of a computation are told. */
export const mostActs = 500;

const party = v.pipe(
  v.object({
    user: v.pipe(shownText(255), v.description("A user's `sub`.")),
    parts: v.pipe(
      v.array(v.picklist(['owner', 'provider', 'consumer', 'reviewer'])),
      v.description(
        'What the user does: the owner of the computation; a provider, who has linked an asset or is named in `providers`; a result ' +
          'consumer, who may fetch results. Nobody is a `reviewer` yet.',
      ),
      v.metadata({ minItems: 1, maxItems: 4 }),
    ),
    invited: v.pipe(
      v.boolean(),
      v.description(
        '`true` if the computation only names the user, who has not acted: has no key here, has linked no asset, and has neither approved ' +
          'nor refused.',
      ),
    ),
  }),
  v.title('Party'),
  v.description('A user who takes part in a computation, or whom it names.'),
);
export type Party = v.InferOutput<typeof party>;

const detailEntries = {
  agent_config: agentConfigOutput,
  approval,
  log_access: logAccess,
  attestation_policy: v.pipe(v.nullable(attestationPolicy), v.description(ofPolicy)),
  result_review: resultReview,
  consumers: v.pipe(
    v.array(shownText(255)),
    v.description(
      'The result consumers in addition to the owner. If empty: all users who had the role `result_consumer` when they uploaded a key.',
    ),
    v.metadata({ maxItems: mostConsumers }),
  ),
  providers: v.pipe(
    v.array(shownText(255)),
    v.description('The users who may link their own assets, beside the owner and administrators. If empty: all users.'),
    v.metadata({ maxItems: mostProviders }),
  ),
  assets: v.pipe(
    v.array(linkedAsset),
    v.description('The linked assets: the algorithm, then the datasets in the order in which they were linked.'),
    v.metadata({ maxItems: assetsPerComputation }),
  ),
  parties: v.pipe(
    v.array(party),
    v.description(
      'The users who take part and those whom the computation names. The owner first. Takes into account the keys, approvals and ' +
        `refusals of ${mostActs} users each, in the order of their identifiers, and those of all named users.`,
    ),
    v.metadata({ maxItems: 1 + assetsPerComputation + mostProviders + mostActs }),
  ),
  run: v.pipe(v.nullable(runSchema), v.description('The latest run. null if the computation was never run.')),
};

export const computationSchema = v.pipe(
  v.object({ ...rowEntries, ...detailEntries }),
  v.title('Computation'),
  v.description('A computation with its configuration, its linked assets and its latest run.'),
);

/**
 * Schema of the answer of endpoint 3 (get a computation). With `peek` the answer has only the fields of the row. One type for
 * both keeps the fields usable in generated clients.
 */
export const computationView = v.pipe(
  v.object({ ...rowEntries, ...v.partial(v.object(detailEntries)).entries }),
  v.title('ComputationView'),
  v.description('A computation. With `peek=true`, only the fields of a row of the list.'),
);
export type Computation = v.InferOutput<typeof computationSchema>;

/**
 * Refuses to lower the approval that a run needs: parties may have joined the computation because of it.
 * @throws ServiceError `invalid_request`
 */
export function refuseLowerApproval(before: ApprovalLevel, after: ApprovalLevel): void {
  const allowed = approvalLevels.slice(approvalLevels.indexOf(before));
  if (allowed.includes(after)) return;
  throw invalid('/approval', `Expected ${allowed.join(' or ')}: the approval that a run needs can only be raised.`);
}

export type ComputationRow = v.InferOutput<typeof computationRow>;

/**
 * Returns how many runs a computation had.
 * @param status counts only runs with this status. Default: all runs
 */
export function countRuns({ run, run_counts }: StoredComputation, status?: Run['status']): number {
  const active = run && isActive(run.status) ? run.status : undefined;
  const { completed = 0, failed = 0, cancelled = 0 } = run_counts;
  const counts = { completed, failed, cancelled, running: 0, stopping: 0 };
  if (active !== undefined) counts[active] = 1;
  return status === undefined ? Object.values(counts).reduce((sum, count) => sum + count) : counts[status];
}

/**
 * Returns the number of a computation in its list, which is a part of the identifier.
 * @throws ServiceError `not_found` if this service cannot have issued the identifier
 */
export function computationNumber(id: string): number {
  const number = numberOf(id);
  if (number === undefined) throw notFound('computation');
  return number;
}

/**
 * Returns the key of a computation's row.
 * @throws ServiceError `not_found` if this service cannot have issued the identifier
 */
export function computationKey(domain: string, id: string): RowKey {
  return listKeys.row(lists.computations(domain), computationNumber(id));
}

/** Parses the row of a computation. Returns undefined if the row is missing or belongs to another computation. */
export function findComputation(item: Item | undefined, id: string): StoredComputation | undefined {
  return item?.['id'] === id ? parseStored(storedComputation, item, 'computation') : undefined;
}

/**
 * Parses the row of a computation.
 * @throws ServiceError `not_found` if the row is missing or belongs to another computation
 */
export function parseComputation(item: Item | undefined, id: string): StoredComputation {
  const computation = findComputation(item, id);
  if (!computation) throw notFound('computation');
  return computation;
}

/**
 * Reads the row of a computation in one round trip.
 * @throws ServiceError `not_found` if there is no such computation
 */
export async function readComputation(table: Table, domain: string, id: string): Promise<StoredComputation> {
  return parseComputation(await getItem(table, computationKey(domain, id)), id);
}

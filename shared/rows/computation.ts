import { attestationPolicy, attestationPolicyInput } from 'computation-management-formats/attestation';
import { type ResultReview, resultReview, resultReviewInput } from 'computation-management-formats/consent';
import {
  arrayOf,
  computationName,
  described,
  description,
  namedInput,
  namedObject,
  orNull,
  returnedField,
  shownDescription,
  shownText,
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
import { invalid, orNotFound } from '../runtime/errors.ts';
import { agentConfigInput, agentConfigOutput } from './agent-config.ts';
import { runSchema, type Run, isActive } from './run.ts';
import { type RowKey, listKeys, lists } from '../table/keys.ts';
import { type Item, type Table, getItem } from '../table/table.ts';
import { parseStored } from '../table/stored.ts';

const computationStatus = described(
  v.picklist(computationStatuses),
  'The status of the computation: `created` until its first run, then the status of its latest run.',
);

const approval = described(
  v.picklist(approvalLevels),
  'Whose approval a run needs, in addition to the creators of assets whose `use` is `approval`. `none`: nobody else. `all`: the ' +
    'creators of all assets, all reviewers and all result consumers. `all_signed`: the same users, each with a signature. You can raise the level, but ' +
    'not lower it.',
);

const logAccess = described(
  v.picklist(logAccesses),
  'Who may read the logs of runs. `none`: nobody. `parties`: the owner, the result consumers, and the creators of assets if ' +
    '`approval` is not `none` or `providers` is set. A run keeps the setting with which it started.',
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

const ofReview = 'Who decides on the release of results. null: results go to the result consumers without a review.';
const review = orNull(
  resultReviewInput,
  `${ofReview} With it, \`consumers\` must name users, and no reviewer may be a consumer or the owner.`,
);

const ofPolicy = 'Which CVMs may run the computation. null: any.';
const policy = orNull(attestationPolicyInput, ofPolicy);

/**
 * Schemas of the fields of a computation that users give, in the body of a request and in the row. `owner` is not among them,
 * because its default depends on the caller.
 */
const givenFields = { name: computationName, description: v.optional(description, '') };

const inputEntries = {
  ...givenFields,
  owner: v.optional(
    described(userId, "The owner, a user's `sub`. Default: the caller. Only administrators can set another user."),
  ),
  agent_config: v.optional(agentConfigInput, {}),
  approval: v.optional(approval, 'none'),
  log_access: v.optional(logAccess, 'none'),
  attestation_policy: v.optional(policy, null),
  result_review: v.optional(review, null),
  consumers: v.optional(consumers, []),
  providers: v.optional(providers, []),
};

export const computationInput = namedInput('ComputationInput', 'The request to create a computation.', inputEntries);

/**
 * Schema of the body of endpoint 4 (replace a computation), which replaces all fields of a computation. Some fields stay the
 * same if they are omitted.
 */
export const computationReplacement = namedInput(
  'ComputationReplacement',
  'All fields of a computation. If `owner`, `approval`, `log_access`, `attestation_policy`, `result_review`, `consumers` or `providers` is omitted, it stays the same. Other ' +
    'omitted fields get their defaults.',
  {
    ...inputEntries,
    owner: v.optional(
      described(userId, "The owner, a user's `sub`. If omitted, stays the same. Only administrators can set another user."),
    ),
    approval: v.optional(approval),
    log_access: v.optional(logAccess),
    attestation_policy: v.optional(policy),
    result_review: v.optional(review),
    consumers: v.optional(consumers),
    providers: v.optional(providers),
    ...v.entriesFromList(['id', 'status', 'created_at', 'updated_at', 'assets', 'parties', 'run'], returnedField),
  },
);

export const nameOfComputation = shownText(200, 'The name of the computation.');

const rowEntries = {
  id: idOfComputation,
  name: nameOfComputation,
  description: shownDescription,
  owner: shownText(255, "The owner, a user's `sub`."),
  status: computationStatus,
  created_at: createdAt,
  updated_at: updatedAt,
};

export const computationRow = namedObject('ComputationRow', 'A computation in a list.', rowEntries);

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

type GivenFields = { [Name in keyof typeof givenFields]: v.InferOutput<(typeof givenFields)[Name]> };

/** Fields of a computation whose default depends on the caller or on the row. */
type Settings = Pick<StoredComputation, 'owner' | 'approval' | 'log_access'>;
/** The fields of a computation that users give. */
export type ComputationFields = GivenFields & Settings;

/** Returns the fields for the row from the body of a request and from settings that depend on the caller or on the row. */
export function fieldsOf(body: GivenFields, settings: Settings): ComputationFields {
  const names = Object.keys(givenFields) as (keyof GivenFields)[];
  return { ...(Object.fromEntries(names.map((name) => [name, body[name]])) as GivenFields), ...settings };
}

const linkedAsset = namedObject('AssetOfComputation', 'An asset that is linked to a computation.', {
  id: idOfAsset,
  file_name: shownText(255, 'The name of the file.'),
  asset_type: described(v.picklist(assetTypes), 'Whether the asset is an algorithm or a dataset.'),
});

/** The most keys, and the most approvals and refusals each, from which the parties of a computation are told. */
export const mostActs = 500;

const party = namedObject('Party', 'A user who takes part in a computation, or whom it names.', {
  user: shownText(255, "A user's `sub`."),
  parts: v.pipe(
    v.array(v.picklist(['owner', 'provider', 'consumer', 'reviewer'])),
    v.description(
      'What the user does: the owner of the computation; a provider, who has linked an asset or is named in `providers`; a result ' +
        'consumer, who may fetch results; a reviewer, who decides on their release.',
    ),
    v.metadata({ minItems: 1, maxItems: 4 }),
  ),
  invited: described(
    v.boolean(),
    '`true` if the computation only names the user, who has not acted: has no key here, has linked no asset, and has neither approved ' +
      'nor refused.',
  ),
});
export type Party = v.InferOutput<typeof party>;

const detailEntries = {
  agent_config: agentConfigOutput,
  approval,
  log_access: logAccess,
  attestation_policy: orNull(attestationPolicy, ofPolicy),
  result_review: orNull(resultReview, ofReview),
  consumers: arrayOf(
    shownText(255),
    mostConsumers,
    'The result consumers in addition to the owner. If empty: all users who had the role `result_consumer` when they uploaded a key.',
  ),
  providers: arrayOf(
    shownText(255),
    mostProviders,
    'The users who may link their own assets, beside the owner and administrators. If empty: all users.',
  ),
  assets: arrayOf(
    linkedAsset,
    assetsPerComputation,
    'The linked assets: the algorithm, then the datasets in the order in which they were linked.',
  ),
  parties: arrayOf(
    party,
    1 + assetsPerComputation + mostProviders + mostActs,
    'The users who take part and those whom the computation names. The owner first. Takes into account the keys, approvals and ' +
      `refusals of ${mostActs} users each, in the order of their identifiers, and those of all named users.`,
  ),
  run: orNull(runSchema, 'The latest run. null if the computation was never run.'),
};

export const computationSchema = namedObject(
  'Computation',
  'A computation with its configuration, its linked assets and its latest run.',
  { ...rowEntries, ...detailEntries },
);

/**
 * Schema of the answer of endpoint 3 (get a computation). With `peek` the answer has only the fields of the row. One type for
 * both keeps the fields usable in generated clients.
 */
export const computationView = namedObject(
  'ComputationView',
  'A computation. With `peek=true`, only the fields of a row of the list.',
  { ...rowEntries, ...v.partial(v.object(detailEntries)).entries },
);
export type Computation = v.InferOutput<typeof computationSchema>;

/**
 * Refuses a review of results without named consumers, or with a reviewer who gets the results.
 * @throws ServiceError `invalid_request`
 */
export function refuseUnfitReview(
  review: ResultReview | null,
  { owner, consumers }: { owner: string; consumers: string[] },
): void {
  if (!review) return;
  if (consumers.length === 0)
    throw invalid('/consumers', 'Expected at least one user: with `result_review`, the consumers are named.');
  const place = review.reviewers.findIndex((user) => user === owner || consumers.includes(user));
  if (place < 0) return;
  const who = review.reviewers[place] === owner ? 'the owner' : 'a result consumer';
  throw invalid(`/result_review/reviewers/${place}`, `Expected a user who gets no results. This one is ${who}.`);
}

/**
 * Refuses to lower the approval that a run needs: parties may have joined the computation because of it.
 * @throws ServiceError `invalid_request`
 */
export function refuseLowerApproval(before: ApprovalLevel, after: ApprovalLevel): void {
  const allowed = approvalLevels.slice(approvalLevels.indexOf(before));
  if (allowed.includes(after)) return;
  const expected = `Expected ${allowed.join(' or ')}: it is ${before}, and can never be lowered.`;
  throw invalid('/approval', `${expected} For less approval, create another computation.`);
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
  return orNotFound(numberOf(id), 'computation');
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
  return orNotFound(findComputation(item, id), 'computation');
}

/**
 * Reads the row of a computation in one round trip.
 * @throws ServiceError `not_found` if there is no such computation
 */
export async function readComputation(table: Table, domain: string, id: string): Promise<StoredComputation> {
  return parseComputation(await getItem(table, computationKey(domain, id)), id);
}

import { timeOf } from 'computation-management-formats/timestamps';
import * as v from 'valibot';
import { becauseOf, missingApprovals, neededApprovals } from '../approvals/index.ts';
import { approvableOf, assetsOf, type Inputs } from '../rows/manifest.ts';
import { partiesOf } from '../rows/definition.ts';

/** The most users whose refusals are kept by name for the owner of a computation. All are counted. */
const mostRefusers = 100;

/** The parts in a computation that users have by being named. */
export const expectedParts = ['provider', 'consumer', 'reviewer'] as const;

/** Schema of what waits for one user in one computation. */
export const taskSchema = v.object({
  /** True if the user created and owns the computation, uploaded a key to it, or linked an asset to it. */
  is_own: v.boolean(),
  /** The approval of this user that a run needs and that can be given now. null if there is none. */
  approval: v.nullable(v.object({ because: v.array(v.string()), manifest_digest: v.string() })),
  needs_key: v.boolean(),
  /** True if a linked asset of the user waits for its content. The list of these assets is kept by asset. */
  needs_content: v.optional(v.boolean(), false),
  /** The number of refusals that the user should read, as the owner, and the users who refuse: the first 100. */
  refusals: v.number(),
  refusers: v.array(v.string()),
  /** The owner who invites a user who has not acted, and what is expected. */
  invitation: v.nullable(v.object({ owner: v.string(), expected: v.array(v.picklist(expectedParts)) })),
  /** True if a result of the computation waits for the decision of the user. */
  reviews: v.boolean(),
});
export type Task = v.InferOutput<typeof taskSchema>;

/**
 * Decides for whom a computation waits, and why: for approvals that would count, keys, content, refusals to read, and answers to invitations.
 * @param reviewing the users for whose decision a result of the computation waits
 * @param at the time as of which approvals may have expired: RFC 3339, UTC, milliseconds
 * @returns what waits for each user for whom something does
 */
export function tasksOf(inputs: Inputs, reviewing: ReadonlySet<string>, at: string): Map<string, Task> {
  const { computation, consumers, acts } = inputs;
  const { digest, configuration_digest, missing } = approvableOf(inputs);
  const neededFrom = new Set(neededApprovals(inputs).map(({ user }) => user));
  const missingFrom = new Map(
    missingApprovals(inputs, { digest, configuration_digest, at }).map((approval) => [approval.user, approval]),
  );
  const refusals = new Map(inputs.refusals.map((refusal) => [refusal.user_id, refusal]));
  const keys = new Set(inputs.keys.map(({ user_id }) => user_id));
  const linkers = new Set(acts.filter(({ is_link }) => is_link).map(({ user_id }) => user_id));
  const missingKeys = new Set(missing?.keys);
  const uploaders = new Set(assetsOf(inputs).flatMap(({ state, created_by }) => (state === 'pending' ? created_by : [])));
  const refusers = [...neededFrom].filter((user) => refusals.has(user));
  const isSigned = computation.approval === 'all_signed';

  const tasks = partiesOf(computation, inputs).map(({ user, parts, invited }): [string, Task] => {
    const isOwner = user === computation.owner;
    const hasKey = keys.has(user);
    const approval = missingFrom.get(user);
    const refusal = refusals.get(user);
    const hasRefused = refusal?.digest === digest && refusal?.configuration_digest === configuration_digest;
    const canGive = hasKey || !isSigned; // without a key, no approval would count
    // With a review, consumers get the result from the service, not from the agent.
    const fetches = !inputs.result_review && consumers.includes(user) && !invited;
    const mustHaveKey = missingKeys.has(user) || fetches || (isSigned && neededFrom.has(user));
    return [
      user,
      {
        is_own: (isOwner && user === computation.created_by) || hasKey || linkers.has(user),
        approval:
          approval && digest !== undefined && canGive && !hasRefused
            ? { because: becauseOf(approval), manifest_digest: digest }
            : null,
        needs_key: !hasKey && mustHaveKey && !hasRefused,
        needs_content: uploaders.has(user),
        refusals: isOwner ? refusers.length : 0,
        refusers: isOwner ? refusers.slice(0, mostRefusers) : [],
        invitation: invited ? { owner: computation.owner, expected: parts.filter((part) => part !== 'owner') } : null,
        reviews: reviewing.has(user),
      },
    ];
  });
  // The reviewers of a run stay its reviewers if the computation names others later.
  const known = new Set(tasks.map(([user]) => user));
  const former = [...reviewing].filter((user) => !known.has(user)).map((user): [string, Task] => [user, onlyReview]);
  return new Map(
    [...tasks, ...former].filter(
      ([, { approval, invitation, ...task }]) =>
        approval ?? invitation ?? (task.needs_key || task.needs_content || task.refusals > 0 || task.reviews),
    ),
  );
}

const onlyReview: Task = {
  is_own: false,
  approval: null,
  needs_key: false,
  needs_content: false,
  refusals: 0,
  refusers: [],
  invitation: null,
  reviews: true,
};

/** Returns when the next approval of a computation expires, after `at`: RFC 3339, UTC, milliseconds. null: none expires. */
export function nextExpiry({ approvals }: Inputs, at: string): string | null {
  const times = approvals.map(({ expires_at }) => (expires_at === null ? NaN : timeOf(expires_at)));
  const next = Math.min(...times.filter((time) => time > timeOf(at)));
  return Number.isFinite(next) ? new Date(Math.ceil(next)).toISOString() : null;
}

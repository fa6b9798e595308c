import { arrayOf, described, namedObject, shownText } from 'computation-management-formats/fields';
import * as v from 'valibot';
import { approvalSchema, decisionInput, decisionSchema, refusalSchema } from '../approvals/approval.ts';
import type { Route } from '../http/route.ts';
import { changes, reads } from '../runtime/uses.ts';
import { mostReasons } from '../approvals/readiness.ts';

export const approveRoute = {
  name: 'approvals/approve',
  method: 'POST',
  path: '/{domainID}/computations/{id}/approvals',
  summary: 'Approve the manifest and the configuration of a computation, or refuse',
  access: { anyOf: [], or: ['owner', 'creator', 'consumer', 'provider', 'reviewer'] },
  uses: { table: changes },
  impact: 'Users cannot approve manifests or refuse to, so computations that need approval cannot be run.',
  body: decisionInput,
  status: 201,
  response: decisionSchema,
  errors: ['incomplete'],
  reasons: ['stale_digest', 'unknown_event'],
  description:
    'Send the digests of the manifest and of the configuration that you have read. The approval does not cover arguments ' +
    'that the user who uploads the algorithm gives to the agent. The approval stops counting at `expires_at`, or when the ' +
    'manifest or the configuration changes. Changes of `log_level` and `server_key` do not matter. Each user has one approval per ' +
    'computation: approving again replaces it. Returns 409 `stale_digest` with the current digests if one of them is another, and 409 ' +
    '`unknown_event` if `journal_head` is no event of this computation. ' +
    'Returns 422 with the missing items if there is no manifest. ' +
    'To refuse, send `{decision: "refuse", reason}`. A refusal replaces your approval, and your next approval replaces the refusal. ' +
    'You can refuse at any time, also as a provider or consumer whom the computation names. Where a run needs your approval, the ' +
    'refusal stands in its place in what the run lacks.',
} as const satisfies Route;

const neededApproval = namedObject('NeededApproval', 'A user whose approval a run needs.', {
  user: shownText(255, 'The user who must approve.'),
  because: arrayOf(
    shownText(255),
    mostReasons,
    "Why the approval is needed: the file names of the user's assets that need it, and `result consumer` or `reviewer` if the user must approve as one. A file of that name is in quotes.",
  ),
});

export const listApprovalsRoute = {
  name: 'approvals/list-approvals',
  method: 'GET',
  path: '/{domainID}/computations/{id}/approvals',
  summary: 'List the approvals of a computation and the users who must approve',
  access: { anyOf: ['view'] },
  uses: { table: reads },
  impact: 'Users cannot see whose approval is missing.',
  response: namedObject('Approvals', 'The approvals of a computation: those that a run needs, and those that were given.', {
    needed: described(v.array(neededApproval), 'The users whose approval a run needs, including those who have approved.'),
    approvals: described(v.array(approvalSchema), 'The approvals that were given, by user.'),
    refusals: described(v.array(refusalSchema), 'The refusals that stand, by user.'),
  }),
} as const satisfies Route;

export const withdrawApprovalRoute = {
  name: 'approvals/withdraw-approval',
  method: 'DELETE',
  path: '/{domainID}/computations/{id}/approvals',
  summary: 'Withdraw your approval or your refusal',
  access: { anyOf: ['view'] },
  uses: { table: changes },
  impact: 'Users cannot withdraw their approvals and refusals.',
  description: 'Also succeeds if you have neither approved nor refused. Does not stop active runs.',
} as const satisfies Route;

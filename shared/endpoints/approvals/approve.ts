import { approvalInput, approvalSchema } from '../../approvals/approval.ts';
import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { appends } from '../../uses.ts';
import { approval, approvalBody } from '../samples.ts';

export const route = {
  name: 'approvals/approve',
  method: 'POST',
  path: '/{domainID}/computations/{id}/approvals',
  summary: 'Approve the manifest of a computation',
  access: { anyOf: [], or: ['owner', 'creator', 'consumer'] },
  uses: { table: appends },
  impact: 'Users cannot approve manifests, so computations that need approval cannot be run.',
} as const satisfies Route;

export const contract = {
  body: approvalInput,
  status: 201,
  response: approvalSchema,
  condition: 'if-match',
  conditionOf: 'the computation',
  errors: ['not_found', 'conflict', 'incomplete', 'unsupported_media_type', 'too_large'],
  reasons: ['stale_digest'],
  description:
    'Send the digest of the manifest that you have read. Also send the `ETag` of the computation as `If-Match`, because the digest ' +
    'does not cover the `agent_config`. Without this header, you approve the configuration at the time of the request. The approval ' +
    'does not cover the arguments of the algorithm: the user who uploads the algorithm gives them to the agent. The approval stops ' +
    'counting at `expires_at`, or when the manifest or the `agent_config` changes. Exception: changes of `log_level` and ' +
    '`server_key` do not matter. Each user has one approval per computation: approving again replaces it. Returns 409 ' +
    '`stale_digest` if the manifest has changed. `manifest_digest` then contains the current digest. Returns 412 if the ' +
    'computation has changed since you read it. Returns 422 with the missing items if there is no manifest.',
} as const satisfies Contract;

export const examples = { request: approvalBody, response: approval } satisfies Examples<typeof contract>;

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
  loses: 'Users cannot approve manifests, so computations that need approval cannot be run.',
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
    'Each user has one approval per computation. Approving again replaces it. It counts while the manifest and the `agent_config` ' +
    '(except `log_level` and `server_key`) stay the same. It does not cover the arguments of the algorithm, which the user who uploads ' +
    'the algorithm gives to the agent. The digest does not contain the `agent_config`: send the `ETag` with which you read the ' +
    'computation as `If-Match`: the request is 412 if the computation has changed since you read it. A 409 `stale_digest` has the ' +
    'current digest in `manifest_digest`. While there is no manifest, returns 422 with the missing items.',
} as const satisfies Contract;

export const examples = { request: approvalBody, response: approval } satisfies Examples<typeof contract>;

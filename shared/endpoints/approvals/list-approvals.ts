import * as v from 'valibot';
import { approvalSchema } from '../../approvals/approval.ts';
import { mostReasons } from '../../approvals/readiness.ts';
import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { shownText } from '../../text.ts';
import { reads } from '../../uses.ts';
import { approval } from '../samples.ts';

export const route = {
  name: 'approvals/list-approvals',
  method: 'GET',
  path: '/{domainID}/computations/{id}/approvals',
  summary: 'List the approvals of a computation and the users who must approve',
  access: { anyOf: ['view'] },
  uses: { table: reads },
  impact: 'Users cannot see whose approval is missing.',
} as const satisfies Route;

const neededApproval = v.pipe(
  v.object({
    user: v.pipe(shownText(255), v.description('The user who must approve.')),
    because: v.pipe(
      v.array(shownText(255)),
      v.description(
        "Why the approval is needed: the file names of the user's assets that need it, and `result consumer` if the user must approve as one.",
      ),
      v.metadata({ maxItems: mostReasons }),
    ),
  }),
  v.title('NeededApproval'),
  v.description('A user whose approval a run needs.'),
);

export const contract = {
  status: 200,
  response: v.pipe(
    v.object({
      needed: v.pipe(
        v.array(neededApproval),
        v.description('The users whose approval a run needs, including those who have approved.'),
      ),
      approvals: v.pipe(v.array(approvalSchema), v.description('The approvals that were given, by user.')),
    }),
    v.title('Approvals'),
    v.description('The approvals of a computation: those that a run needs, and those that were given.'),
  ),
  errors: ['not_found'],
} as const satisfies Contract;

export const examples = {
  response: { needed: [{ user: 'bob', because: ['penguins.csv'] }], approvals: [approval] },
} satisfies Examples<typeof contract>;

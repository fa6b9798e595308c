import { approve } from '../../shared/approvals/approve.ts';
import { refuse } from '../../shared/approvals/refuse.ts';
import { approveRoute } from '../../shared/endpoints/approvals.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';

export const handler = changeEndpoint(approveRoute, {
  change: ({ path, body, caller, now, permit, table, answerKeeper }) => {
    const request = { domain: path.domainID, computationId: path.id, by: caller.id, now, permit, answerKeeper };
    return body.decision === 'refuse' ? refuse(table, { ...request, given: body }) : approve(table, { ...request, given: body });
  },
  reply: ({ decision, permitted }) => ({ permitted, body: decision }),
});

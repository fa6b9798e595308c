import { approve, refuse } from '../../shared/approvals/approve.ts';
import { approveRoute } from '../../shared/endpoints/approvals.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';

export const handler = changeEndpoint(approveRoute, {
  change: ({ request, path, body, permit, table }) => {
    const decision = { ...request, computationId: path.id, permit };
    return body.decision === 'refuse'
      ? refuse(table, { ...decision, given: body })
      : approve(table, { ...decision, given: body });
  },
  reply: ({ decision, permitted }) => ({ permitted, body: decision }),
});

import { withdrawApproval } from '../../shared/approvals/approve.ts';
import { withdrawApprovalRoute } from '../../shared/endpoints/approvals.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';

export const handler = changeEndpoint(withdrawApprovalRoute, {
  change: ({ request, path, table }) => withdrawApproval(table, { ...request, computationId: path.id }),
  reply: () => ({}),
});

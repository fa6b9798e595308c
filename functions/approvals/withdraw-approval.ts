import { withdrawApproval } from '../../shared/approvals/approve.ts';
import { withdrawApprovalRoute } from '../../shared/endpoints/approvals.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';

export const handler = changeEndpoint(withdrawApprovalRoute, {
  change: ({ path, caller, now, table, answerKeeper }) =>
    withdrawApproval(table, {
      domain: path.domainID,
      computationId: path.id,
      by: caller.id,
      now,
      answerKeeper,
    }),
  reply: () => ({}),
});

import { approve } from '../../shared/approvals/approve.ts';
import { approveRoute } from '../../shared/endpoints/approvals.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';

export const handler = changeEndpoint(approveRoute, {
  change: ({ path, body, caller, now, permit, table, answerKeeper }) =>
    approve(table, {
      domain: path.domainID,
      computationId: path.id,
      given: body,
      by: caller.id,
      now,
      permit,
      answerKeeper,
    }),
  reply: ({ approval, permitted }) => ({ permitted, body: approval }),
});

import { approve } from '../../shared/approvals/approve.ts';
import { etagsFor } from '../../shared/computations/describe-computation.ts';
import { approve as route } from '../../shared/endpoints/approvals.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';

export const handler = changeEndpoint(route, {
  change: ({ path, body, caller, now, permit, ifMatch, table, answerKeeper }) =>
    approve(table, {
      domain: path.domainID,
      computationId: path.id,
      given: body,
      by: caller.id,
      now,
      permit,
      matchesIfMatch: ifMatch && ((row, definition) => ifMatch(...etagsFor(caller, row, definition))),
      answerKeeper,
    }),
  reply: ({ approval, permitted }) => ({ permitted, body: approval }),
});

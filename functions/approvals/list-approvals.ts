import { listApprovals } from '../../shared/approvals/list-approvals.ts';
import { listApprovalsRoute } from '../../shared/endpoints/approvals.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/table.ts';

export const handler = endpoint(listApprovalsRoute, async ({ path, now, deadline }) => ({
  body: await listApprovals(openTable(deadline), path.domainID, path.id, now),
}));

import { listApprovals } from '../../shared/approvals/list-approvals.ts';
import { listApprovals as route } from '../../shared/endpoints/approvals.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/table.ts';

export const handler = endpoint(route, async ({ path, now, deadline }) => ({
  body: await listApprovals(openTable(deadline), path.domainID, path.id, now),
}));

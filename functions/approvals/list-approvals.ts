import { listApprovals } from '../../shared/approvals/read-readiness.ts';
import { contract, route } from '../../shared/endpoints/approvals/list-approvals.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, now, deadline }) => ({
  body: await listApprovals(openTable(deadline), path.domainID, path.id, now),
}));

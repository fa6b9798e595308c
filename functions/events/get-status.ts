import { readStatus } from '../../shared/computations/list-events.ts';
import { contract, route } from '../../shared/endpoints/events/get-status.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, deadline }) => ({
  body: await readStatus(openTable(deadline), path.domainID, path.id),
}));

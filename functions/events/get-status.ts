import { readStatus } from '../../shared/events/list-events.ts';
import { getStatusRoute } from '../../shared/endpoints/events.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/table.ts';

export const handler = endpoint(getStatusRoute, async ({ path, deadline }) => ({
  body: await readStatus(openTable(deadline), path.domainID, path.id),
}));

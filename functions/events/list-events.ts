import { listEvents } from '../../shared/computations/list-events.ts';
import { contract, route } from '../../shared/endpoints/events/list-events.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, query, deadline }) => {
  const { events, total } = await listEvents(openTable(deadline), path.domainID, path.id, query);
  return { body: { events, limit: query.limit, offset: query.offset, total } };
});

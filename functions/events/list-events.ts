import { listEvents } from '../../shared/computations/list-events.ts';
import { contract, route } from '../../shared/endpoints/events/list-events.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/open-table.ts';
import { waitOf } from '../../shared/waits/wait.ts';

export const handler = endpoint(route, contract, async ({ path, query, isHead, deadline, invocation }) => {
  const { domainID: domain, id } = path;
  const wait = waitOf({ endpoint: route.name, domain, seconds: isHead ? 0 : query.wait, invocation });
  return { body: await listEvents(openTable(deadline), { domain, id }, query, wait) };
});

import { listEvents } from '../../shared/events/list-events.ts';
import { listEventsRoute } from '../../shared/endpoints/events.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/table.ts';
import { waitOf } from '../../shared/http/wait.ts';

export const handler = endpoint(listEventsRoute, async ({ path, query, isHead, deadline, invocation }) => {
  const { domainID: domain, id } = path;
  const wait = waitOf({ endpoint: listEventsRoute.name, domain, seconds: isHead ? 0 : query.wait, invocation });
  return { body: await listEvents(openTable(deadline), { domain, id }, query, wait) };
});

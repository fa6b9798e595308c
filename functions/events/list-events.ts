import { listEvents } from '../../shared/computations/list-events.ts';
import { watchEvents } from '../../shared/computations/watch-events.ts';
import { contract, route } from '../../shared/endpoints/events/list-events.ts';
import { invalid } from '../../shared/errors.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/open-table.ts';
import { waitOf } from '../../shared/waits/wait.ts';

export const handler = endpoint(route, contract, async ({ path, query, deadline, invocation }) => {
  const { domainID: domain, id } = path;
  const { limit, offset, after, wait: seconds, ...filter } = query;
  if (after === undefined) {
    if (seconds > 0) throw invalid('query/wait', 'Expected `after` too: `after=` begins at the first event.');
    const page = await listEvents(openTable(deadline), domain, id, filter, { limit, offset: offset ?? 0 });
    return { body: { ...page, limit, offset: offset ?? 0 } };
  }
  if (offset !== undefined) throw invalid('query/offset', 'Expected no `offset` together with `after`.');
  const wait = waitOf({ endpoint: route.name, domain, seconds, invocation });
  const page = await watchEvents(openTable(deadline), domain, id, filter, { after, limit }, wait);
  return { body: { ...page, limit, offset: 0 } };
});

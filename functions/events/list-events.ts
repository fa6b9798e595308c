import { computationKey, parseComputation } from '../../shared/computations/find-computation.ts';
import { contract, route } from '../../shared/endpoints/events/list-events.ts';
import { readEvents } from '../../shared/events/read-events.ts';
import { parseTimeBound } from '../../shared/events/time-bound.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/open-table.ts';
import { getItem } from '../../shared/table/table.ts';

export const handler = endpoint(route, contract, async ({ path, query, deadline }) => {
  const { limit, offset, from, to, ...facets } = query;
  const filter = {
    ...facets,
    from: from === undefined ? undefined : parseTimeBound(from, 'from'),
    to: to === undefined ? undefined : parseTimeBound(to, 'to'),
  };
  const table = openTable(deadline);
  const [row, { events, total }] = await Promise.all([
    getItem(table, computationKey(path.domainID, path.id)),
    readEvents(table, path.id, filter, { limit, offset }),
  ]);
  parseComputation(row, path.id);
  return { body: { events, limit, offset, total } };
});

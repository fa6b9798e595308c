import { findRoute } from '../../shared/endpoints/find.ts';
import { find } from '../../shared/find/find.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/table.ts';

export const handler = endpoint(findRoute, async ({ path, query, deadline }) => {
  const { q, exact, ...limits } = query;
  return { body: await find(openTable(deadline), { domain: path.domainID, query: q, exact: exact === 'true', ...limits }) };
});

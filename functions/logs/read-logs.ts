import { readLogsRoute } from '../../shared/endpoints/logs.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { readLogs } from '../../shared/logs/read-logs.ts';
import { openTable } from '../../shared/table/table.ts';
import { waitOf } from '../../shared/http/wait.ts';

export const handler = endpoint(readLogsRoute, async ({ path, query, caller, permit, now, isHead, deadline, invocation }) => {
  const { domainID: domain, id } = path;
  const wait = waitOf({ endpoint: readLogsRoute.name, domain, seconds: isHead ? 0 : query.wait, invocation });
  const { permitted, ...body } = await readLogs(openTable(deadline), { domain, id, ...query, by: caller.id, now, permit }, wait);
  return { permitted, body };
});

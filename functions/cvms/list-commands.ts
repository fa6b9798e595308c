import { listCommandsRoute } from '../../shared/endpoints/cvms.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { watchCommands } from '../../shared/cvms/list-commands.ts';
import { openTable } from '../../shared/table/table.ts';
import { waitOf } from '../../shared/http/wait.ts';
import { openKms } from '../../shared/runtime/clients.ts';

export const handler = endpoint(listCommandsRoute, async ({ path, query, now, isHead, deadline, invocation }) => {
  const { domainID: domain, cvmID: cvmId } = path;
  const wait = waitOf({ endpoint: listCommandsRoute.name, domain, seconds: isHead ? 0 : query.wait, invocation });
  return { body: await watchCommands(openTable(deadline), openKms(deadline), { domain, cvmId, now }, wait) };
});

import { timestampOf } from '../../shared/clock.ts';
import { contract, route } from '../../shared/endpoints/cvms/list-commands.ts';
import { listCommands } from '../../shared/runs/list-commands.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/open-table.ts';
import { waitFor } from '../../shared/waits/wait-for.ts';
import { waitOf } from '../../shared/waits/wait.ts';

export const handler = endpoint(route, contract, async ({ path, query, deadline, invocation }) => {
  const { domainID: domain, cvmID } = path;
  const table = openTable(deadline);
  const wait = waitOf({ endpoint: route.name, domain, seconds: query.wait, invocation });
  const look = () => listCommands(table, domain, cvmID, timestampOf(wait.clock));
  return { body: { commands: await waitFor(table, wait, look, (commands) => commands.length > 0) } };
});

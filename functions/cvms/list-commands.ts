import { contract, route } from '../../shared/endpoints/cvms/list-commands.ts';
import { listCommands } from '../../shared/runs/list-commands.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, now, deadline }) => {
  return { body: await listCommands(openTable(deadline), path.domainID, path.cvmID, now) };
});

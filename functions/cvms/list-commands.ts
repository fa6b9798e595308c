import { listCommandsContract } from '../../shared/contract/cvms.ts';
import { listCommands } from '../../shared/runs/list-commands.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { listCommandsRoute } from '../../shared/routes.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(listCommandsRoute, listCommandsContract, async ({ path, now, deadline }) => {
  return { body: { commands: await listCommands(openTable(deadline), path.domainID, path.cvmID, now) } };
});

import { listCommandsContract } from '../../shared/contract/cvms.ts';
import { listCommands } from '../../shared/cvms/command.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint('cvms/list-commands', listCommandsContract, async ({ path, now }) => {
  return { body: { commands: await listCommands(openTable(), path.domainID, path.cvmID, now) } };
});

import { timestampOf } from '../../shared/clock.ts';
import { contract, route } from '../../shared/endpoints/cvms/list-commands.ts';
import { glanceAtCvm, listCommands, openWork } from '../../shared/runs/list-commands.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openKms } from '../../shared/kms.ts';
import { openTable } from '../../shared/table/open-table.ts';
import { waitFor } from '../../shared/waits/wait-for.ts';
import { waitOf } from '../../shared/waits/wait.ts';

export const handler = endpoint(route, contract, async ({ path, query, now, deadline, invocation }) => {
  const { domainID: domain, cvmID } = path;
  const table = openTable(deadline);
  const read = async (at: string) => await openWork(openKms(deadline), await listCommands(table, domain, cvmID, at));
  const work = await read(now);
  if (query.wait === 0 || work.commands.length > 0) return { body: work };
  const wait = waitOf({ endpoint: route.name, domain, seconds: query.wait, invocation });
  const glance = () => glanceAtCvm(table, domain, cvmID);
  const seen = await waitFor(table, wait, glance, ({ hasCommand }) => hasCommand);
  const isIdle = work.run === null && !seen.isHeld;
  return { body: isIdle ? work : await read(timestampOf(wait.clock)) };
});

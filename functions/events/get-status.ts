import { computationKey, parseComputation } from '../../shared/computations/find-computation.ts';
import { contract, route } from '../../shared/endpoints/events/get-status.ts';
import { parseEvent } from '../../shared/events/stored-event.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { journalKeys } from '../../shared/table/keys.ts';
import { openTable } from '../../shared/table/open-table.ts';
import { getItems } from '../../shared/table/table.ts';

export const handler = endpoint(route, contract, async ({ path, deadline }) => {
  const [row, latest] = await getItems(openTable(deadline), [
    computationKey(path.domainID, path.id),
    journalKeys.latest(path.id),
  ]);
  parseComputation(row, path.id);
  return { body: parseEvent(latest) };
});

import { rowOf } from '../../shared/computations/computation.ts';
import { computationEtag, peekEtag } from '../../shared/computations/computation-etag.ts';
import { describeOpened, readToDescribe } from '../../shared/computations/describe-computation.ts';
import { readComputation } from '../../shared/computations/find-computation.ts';
import { contract, route } from '../../shared/endpoints/computations/get-computation.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openKms } from '../../shared/kms.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, query, caller, ifNoneMatch, deadline }) => {
  const table = openTable(deadline);
  if (query.peek === 'true') {
    const row = await readComputation(table, path.domainID, path.id);
    const etag = peekEtag(row);
    return ifNoneMatch?.(etag) ? { etag, notModified: true } : { etag, body: rowOf(row) };
  }
  const { row, definition } = await readToDescribe(table, path.domainID, path.id);
  const etag = computationEtag(caller, row, definition);
  if (ifNoneMatch?.(etag)) return { etag, notModified: true };
  return { etag, body: await describeOpened(openKms(deadline), { row, definition }, caller) };
});

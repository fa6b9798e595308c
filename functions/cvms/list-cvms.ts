import { listCvmsRoute } from '../../shared/endpoints/cvms.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/table.ts';
import { listCvms } from '../../shared/cvms/read-cvms.ts';

export const handler = endpoint(listCvmsRoute, async ({ path, query, now, deadline }) => {
  const { limit, offset } = query;
  const { cvms, total } = await listCvms(openTable(deadline), path.domainID, { limit, offset, now });
  return { body: { cvms, limit, offset, total } };
});

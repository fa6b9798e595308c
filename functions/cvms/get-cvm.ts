import { getCvmRoute } from '../../shared/endpoints/cvms.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/table.ts';
import { readCvm, cvmEtag } from '../../shared/cvms/read-cvms.ts';

export const handler = endpoint(getCvmRoute, async ({ path, now, ifNoneMatch, deadline }) => {
  const cvm = await readCvm(openTable(deadline), { domain: path.domainID, cvmId: path.cvmID }, now);
  const etag = cvmEtag(cvm);
  return ifNoneMatch?.(etag) ? { etag, notModified: true } : { etag, body: cvm };
});

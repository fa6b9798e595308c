import { deleteCvm } from '../../shared/cvms/register-cvm.ts';
import { deleteCvmRoute } from '../../shared/endpoints/cvms.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { cvmEtag } from '../../shared/cvms/read-cvms.ts';

export const handler = changeEndpoint(deleteCvmRoute, {
  change: ({ request, path, ifMatch, table }) =>
    deleteCvm(table, { ...request, cvmId: path.cvmID, matchesIfMatch: ifMatch && ((cvm) => ifMatch(cvmEtag(cvm))) }),
  reply: () => ({}),
});

import { registerCvm } from '../../shared/cvms/register-cvm.ts';
import { registerCvmRoute } from '../../shared/endpoints/cvms.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { cvmEtag } from '../../shared/cvms/read-cvms.ts';

export const handler = changeEndpoint(registerCvmRoute, {
  change: ({ request, path, body, ifMatch, table }) =>
    registerCvm(table, {
      ...request,
      cvmId: path.cvmID,
      given: body,
      matchesIfMatch: ifMatch && ((cvm) => ifMatch(cvmEtag(cvm))),
    }),
  reply: ({ cvm, isNew }) => ({ body: cvm, etag: cvmEtag(cvm), isNew }),
});

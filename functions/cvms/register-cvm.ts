import { registerCvm } from '../../shared/cvms/register-cvm.ts';
import { registerCvmRoute } from '../../shared/endpoints/cvms.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { cvmEtag } from '../../shared/cvms/read-cvms.ts';

export const handler = changeEndpoint(registerCvmRoute, {
  change: ({ path, body, now, ifMatch, table, answerKeeper }) =>
    registerCvm(table, {
      domain: path.domainID,
      cvmId: path.cvmID,
      given: body,
      now,
      matchesIfMatch: ifMatch && ((cvm) => ifMatch(cvmEtag(cvm))),
      answerKeeper,
    }),
  reply: ({ cvm, isNew }) => ({ body: cvm, etag: cvmEtag(cvm), isNew }),
});

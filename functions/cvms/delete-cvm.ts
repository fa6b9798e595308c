import { deleteCvm } from '../../shared/cvms/register-cvm.ts';
import { deleteCvmRoute } from '../../shared/endpoints/cvms.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { cvmEtag } from '../../shared/cvms/read-cvms.ts';

export const handler = changeEndpoint(deleteCvmRoute, {
  change: ({ path, now, ifMatch, table, answerKeeper }) =>
    deleteCvm(table, {
      domain: path.domainID,
      cvmId: path.cvmID,
      now,
      matchesIfMatch: ifMatch && ((cvm) => ifMatch(cvmEtag(cvm))),
      answerKeeper,
    }),
  reply: () => ({}),
});

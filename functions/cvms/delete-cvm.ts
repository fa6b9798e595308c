import { cvmEtag } from '../../shared/cvms/cvm-etag.ts';
import { deleteCvm } from '../../shared/cvms/delete-cvm.ts';
import { contract, route } from '../../shared/endpoints/cvms/delete-cvm.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';

export const handler = changeEndpoint(route, contract, {
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

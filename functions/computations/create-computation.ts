import { computationEtag } from '../../shared/computations/computation-etag.ts';
import { createComputation } from '../../shared/computations/create-computation.ts';
import { withCurrentServerKey } from '../../shared/computations/current-server-key.ts';
import { decideCreation } from '../../shared/computations/decide-creation.ts';
import { describeComputation } from '../../shared/computations/describe-computation.ts';
import { sealKey } from '../../shared/computations/sealed-key.ts';
import { contract, route } from '../../shared/endpoints/computations/create-computation.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { openKms } from '../../shared/kms.ts';

export const handler = changeEndpoint(route, contract, {
  change: async ({ path, body, caller, now, table, answerKeeper, deadline }) =>
    await createComputation(table, {
      domain: path.domainID,
      ...decideCreation({ body, caller }),
      seal: (given) => sealKey(openKms(deadline), given),
      now,
      answerKeeper,
    }),
  reply: ({ row, definition }, { path, body, caller }) => {
    const computation = describeComputation(row, definition, { caller, server_key: body.agent_config.server_key });
    return {
      body: computation,
      etag: computationEtag(caller, row, definition),
      headers: {
        location: `/${path.domainID}/computations/${computation.id}`,
        'HX-Location': `/computations/${computation.id}`,
      },
    };
  },
  repeat: (computation, _, { path, caller, table, deadline }) =>
    withCurrentServerKey(computation, { domain: path.domainID, caller, table, kms: openKms(deadline) }),
});

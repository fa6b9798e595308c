import { computationEtag, describeComputation, withCurrentServerKey } from '../../shared/computations/describe-computation.ts';
import { createComputation, decideCreation } from '../../shared/computations/create-computation.ts';
import { sealKey } from '../../shared/rows/sealed-key.ts';
import { createComputationRoute } from '../../shared/endpoints/computations.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { openKms } from '../../shared/runtime/clients.ts';

export const handler = changeEndpoint(createComputationRoute, {
  change: async ({ request, body, caller, table, deadline }) =>
    await createComputation(table, {
      ...request,
      ...decideCreation(body, caller),
      seal: (given) => sealKey(openKms(deadline), given),
    }),
  reply: ({ row, definition }, { path, body, caller }) => {
    const computation = describeComputation(row, definition, { caller, server_key: body.agent_config.server_key });
    return {
      body: computation,
      etag: computationEtag(caller, row, definition),
      headers: { location: `/${path.domainID}/computations/${computation.id}`, 'HX-Location': `/computations/${computation.id}` },
    };
  },
  repeat: (computation, _, { path, caller, table, deadline }) =>
    withCurrentServerKey(computation, { domain: path.domainID, caller, table, kms: openKms(deadline) }),
});

import { computationEtag, describeComputation, withCurrentServerKey } from '../../shared/computations/describe-computation.ts';
import { decideUpdate, updateComputation } from '../../shared/computations/update-computation.ts';
import { sealKey } from '../../shared/rows/sealed-key.ts';
import { updateComputationRoute } from '../../shared/endpoints/computations.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { openKms } from '../../shared/runtime/clients.ts';

export const handler = changeEndpoint(updateComputationRoute, {
  change: ({ request, path, body, caller, permit, ifMatch, table, deadline }) =>
    updateComputation(table, {
      ...request,
      id: path.id,
      seal: (given) => sealKey(openKms(deadline), given),
      decide: decideUpdate({ body, caller, permit, ifMatch }),
    }),
  reply: ({ row, definition, permitted }, { body, caller }) => {
    const computation = describeComputation(row, definition, { caller, server_key: body.agent_config.server_key });
    return { permitted, body: computation, etag: computationEtag(caller, row, definition) };
  },
  repeat: (computation, _, { path, caller, table, deadline }) =>
    withCurrentServerKey(computation, { domain: path.domainID, caller, table, kms: openKms(deadline) }),
});

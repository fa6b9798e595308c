import { computationEtag, describeComputation, withCurrentServerKey } from '../../shared/computations/describe-computation.ts';
import { decideUpdate, updateComputation } from '../../shared/computations/update-computation.ts';
import { openKey, sealKey } from '../../shared/rows/agent-config.ts';
import { updateComputationRoute } from '../../shared/endpoints/computations.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { openKms } from '../../shared/runtime/clients.ts';

export const handler = changeEndpoint(updateComputationRoute, {
  change: ({ path, body, caller, now, permit, ifMatch, table, answerKeeper, deadline }) =>
    updateComputation(table, {
      domain: path.domainID,
      id: path.id,
      by: caller.id,
      now,
      seal: (given) => sealKey(openKms(deadline), given),
      decide: decideUpdate({ body, caller, permit, ifMatch }),
      answerKeeper,
    }),
  reply: ({ row, definition, permitted }, { body, caller }) => {
    const computation = describeComputation(row, definition, { caller, server_key: body.agent_config.server_key });
    return { permitted, body: computation, etag: computationEtag(caller, row, definition) };
  },
  repeat: (computation, _, { path, caller, table, deadline }) =>
    withCurrentServerKey(computation, {
      domain: path.domainID,
      caller,
      table,
      open: (id, stored) => openKey(openKms(deadline), id, stored),
    }),
});

import { requireActionToChange } from '../../shared/access/caller.ts';
import { computationEtag, etagsFor } from '../../shared/computations/computation-etag.ts';
import { refuseLowerApproval } from '../../shared/computations/approval-level.ts';
import { fieldsOf } from '../../shared/computations/computation.ts';
import { withCurrentServerKey } from '../../shared/computations/current-server-key.ts';
import { describeComputation } from '../../shared/computations/describe-computation.ts';
import { sealKey } from '../../shared/computations/sealed-key.ts';
import { updateComputation } from '../../shared/computations/update-computation.ts';
import { contract, route } from '../../shared/endpoints/computations/update-computation.ts';
import { preconditionFailed } from '../../shared/errors.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { openKms } from '../../shared/kms.ts';

export const handler = changeEndpoint(route, contract, {
  change: ({ path, body, caller, now, permit, ifMatch, table, deadline }) =>
    updateComputation(table, {
      domain: path.domainID,
      id: path.id,
      by: caller.id,
      now,
      seal: (key, id) => sealKey(openKms(deadline), id, key),
      decide: (current, definition) => {
        const permitted = permit({ owner: current.owner });
        const owner = body.owner ?? current.owner;
        if (owner !== current.owner) requireActionToChange(caller, 'administer');
        const approval = body.approval ?? current.approval;
        refuseLowerApproval(current.approval, approval);
        if (ifMatch?.(...etagsFor(caller, current, definition)) === false) throw preconditionFailed();
        return {
          fields: fieldsOf(body, { owner, approval }),
          agent_config: body.agent_config,
          consumers: body.consumers ?? definition.consumers,
          permitted,
        };
      },
    }),
  reply: ({ row, definition, permitted }, { body, caller }) => {
    const computation = describeComputation(row, definition, { caller, server_key: body.agent_config.server_key });
    return { permitted, body: computation, etag: computationEtag(computation) };
  },
  repeat: (computation, _, { path, caller, table, deadline }) =>
    withCurrentServerKey(computation, { domain: path.domainID, caller, table, kms: openKms(deadline) }),
});

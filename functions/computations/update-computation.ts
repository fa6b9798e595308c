import { requireAction } from '../../shared/access/caller.ts';
import { fieldsOf } from '../../shared/computations/computation.ts';
import { describeComputation } from '../../shared/computations/describe-computation.ts';
import { updateComputation } from '../../shared/computations/update-computation.ts';
import { contract, route } from '../../shared/endpoints/computations/update-computation.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, body, caller, now, permit, deadline }) => {
  const { row, definition, permitted } = await updateComputation(openTable(deadline), {
    domain: path.domainID,
    id: path.id,
    by: caller.id,
    now,
    decide: (current) => {
      const permitted = permit({ owner: current.owner });
      const owner = body.owner ?? current.owner;
      if (owner !== current.owner) requireAction(caller, 'administer');
      return { fields: fieldsOf(body, owner), agent_config: body.agent_config, permitted };
    },
  });
  return { permitted, body: describeComputation(row, definition, caller) };
});

import { permit } from '../../shared/access/caller.ts';
import { describeComputation } from '../../shared/computations/describe-computation.ts';
import { updateComputation } from '../../shared/computations/update-computation.ts';
import { contract, route } from '../../shared/endpoints/computations/update-computation.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async (request) => {
  const { path, body, caller, now, deadline } = request;
  const { row, definition } = await updateComputation(openTable(deadline), path.domainID, path.id, caller.id, now, (current) => {
    request.permit({ owner: current.owner });
    const owner = body.owner ?? current.owner;
    if (owner !== current.owner) permit(caller, { anyOf: ['administer'] });
    const { name, description, agent_config } = body;
    return { name, description, owner, agent_config };
  });
  return { body: describeComputation(row, definition, caller) };
});

import { requireAction } from '../../shared/access/caller.ts';
import { computationEtag } from '../../shared/computations/computation-etag.ts';
import { fieldsOf } from '../../shared/computations/computation.ts';
import { createComputation } from '../../shared/computations/create-computation.ts';
import { contract, route } from '../../shared/endpoints/computations/create-computation.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/open-table.ts';

export const handler = endpoint(route, contract, async ({ path, body, caller, now, deadline }) => {
  const owner = body.owner ?? caller.id;
  if (owner !== caller.id) requireAction(caller, 'administer');
  const computation = await createComputation(openTable(deadline), {
    domain: path.domainID,
    fields: fieldsOf(body, owner),
    agent_config: body.agent_config,
    by: caller.id,
    now,
  });
  return {
    body: computation,
    etag: computationEtag(computation),
    headers: {
      location: `/${path.domainID}/computations/${computation.id}`,
      'HX-Location': `/computations/${computation.id}`,
    },
  };
});

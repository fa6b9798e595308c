import { listReleasesRoute } from '../../shared/endpoints/releases.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { waitOf } from '../../shared/http/wait.ts';
import { listAsked, newNonce } from '../../shared/releases/broker.ts';
import { openKms } from '../../shared/runtime/clients.ts';
import { openTable } from '../../shared/table/table.ts';

export const handler = endpoint(listReleasesRoute, async ({ path, query, caller, isHead, deadline, invocation }) => {
  const { domainID: domain } = path;
  const wait = waitOf({ endpoint: listReleasesRoute.name, domain, seconds: isHead ? 0 : query.wait, invocation });
  const asking = { domain, user: caller.id, nonce: query.nonce ?? newNonce() };
  return { body: { releases: await listAsked(openTable(deadline), openKms(deadline), asking, wait) } };
});

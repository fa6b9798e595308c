import { authRoute } from '../../shared/endpoints/releases.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { challenge } from '../../shared/releases/attest.ts';
import { admittedDomain, sessionCookie } from '../../shared/releases/kbs-request.ts';
import { openKms } from '../../shared/runtime/clients.ts';
import { openTable } from '../../shared/table/table.ts';

export const handler = endpoint(authRoute, async (request) => {
  const { body, now, deadline } = request;
  const domain = admittedDomain(request);
  const { nonce, session } = await challenge(openTable(deadline), openKms(deadline), { domain, version: body['version'], now });
  return { body: { nonce, 'extra-params': '' as const }, headers: { 'set-cookie': sessionCookie(domain, session) } };
});

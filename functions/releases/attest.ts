import { attestRoute } from '../../shared/endpoints/releases.ts';
import { bytesOf, endpoint } from '../../shared/http/endpoint.ts';
import { attest } from '../../shared/releases/attest.ts';
import { admittedDomain, credentialsIn } from '../../shared/releases/kbs-request.ts';
import { openContentStore } from '../../shared/rows/content-store.ts';
import { openKms } from '../../shared/runtime/clients.ts';
import { openTable } from '../../shared/table/table.ts';

export const handler = endpoint(attestRoute, async (request) => {
  const { received, now, deadline } = request;
  const domain = admittedDomain(request);
  const { cookie: session } = credentialsIn(received);
  const services = { table: openTable(deadline), store: openContentStore(deadline), kms: openKms(deadline) };
  return { body: await attest(services, { domain, session, body: bytesOf(received).toString(), now }) };
});

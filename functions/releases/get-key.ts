import { getKeyRoute } from '../../shared/endpoints/releases.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { waitOf } from '../../shared/http/wait.ts';
import { brokerSeconds } from '../../shared/releases/broker.ts';
import { getKey } from '../../shared/releases/get-key.ts';
import { admittedDomain, assetIn, credentialsIn } from '../../shared/releases/kbs-request.ts';
import { openKms } from '../../shared/runtime/clients.ts';
import { clockOf } from '../../shared/runtime/deadline.ts';
import { openTable } from '../../shared/table/table.ts';

export const handler = endpoint(getKeyRoute, async (request) => {
  const { received, path, now, invocation, deadline } = request;
  const domain = admittedDomain(request);
  const given = { domain, asset: assetIn(path.resource), ...credentialsIn(received), now };
  const newWait = () => waitOf({ endpoint: getKeyRoute.name, domain, seconds: brokerSeconds, invocation });
  return { body: await getKey(openTable(deadline), openKms(deadline), given, { clock: clockOf(invocation), newWait }) };
});

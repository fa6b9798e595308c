import { contract, route } from '../../shared/endpoints/service/jwks.ts';
import { readPublishedKeys, openSigningKeys } from '../../shared/evidence/signing-key.ts';
import { endpoint } from '../../shared/http/endpoint.ts';

export const handler = endpoint(route, contract, async ({ deadline }) => ({
  body: { keys: await readPublishedKeys(openSigningKeys(deadline)) },
}));

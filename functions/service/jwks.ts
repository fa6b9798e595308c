import { contract, route } from '../../shared/endpoints/service/jwks.ts';
import { readPublishedKeys } from '../../shared/evidence/signing-key.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openKms } from '../../shared/kms.ts';

export const handler = endpoint(route, contract, async ({ deadline }) => ({
  body: { keys: await readPublishedKeys(openKms(deadline)) },
}));

import { jwksRoute } from '../../shared/endpoints/service.ts';
import { readPublishedKeys } from '../../shared/evidence/index.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openKms } from '../../shared/runtime/clients.ts';

export const handler = endpoint(jwksRoute, async ({ deadline }) => ({
  body: { keys: await readPublishedKeys(openKms(deadline)) },
}));

import * as v from 'valibot';
import { toBase64 } from 'computation-management-formats/bytes';
import { getTileRoute, tilePath } from '../../shared/endpoints/history.ts';
import { openLogStore, readObject } from '../../shared/history/log-store.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { ServiceError } from '../../shared/runtime/errors.ts';

export const handler = endpoint(getTileRoute, async ({ path: { tile }, deadline }) => {
  const found = v.is(tilePath, tile) ? await readObject(openLogStore(deadline), `tile/${tile}`) : undefined;
  if (!found) throw new ServiceError('not_found', 'The log has no such tile.');
  return { body: toBase64(found.bytes), headers: { 'cache-control': 'public, max-age=31536000, immutable' } };
});

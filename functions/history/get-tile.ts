import * as v from 'valibot';
import { toBase64 } from 'computation-management-formats/bytes';
import { getTileRoute, tilePath } from '../../shared/endpoints/history.ts';
import { openLogStore, readObject } from '../../shared/history/log-store.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { parseInput } from '../../shared/http/parse.ts';
import { ServiceError } from '../../shared/runtime/errors.ts';

const pathSchema = v.object({ tile: tilePath });

export const handler = endpoint(getTileRoute, async ({ path, deadline }) => {
  const { tile } = parseInput(pathSchema, path, 'path');
  const found = await readObject(openLogStore(deadline), `tile/${tile}`);
  if (!found) throw new ServiceError('not_found', 'The log has no such tile.');
  return { body: toBase64(found.bytes), headers: { 'cache-control': 'public, max-age=31536000, immutable' } };
});

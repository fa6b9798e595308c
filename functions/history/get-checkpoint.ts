import { getCheckpointRoute } from '../../shared/endpoints/history.ts';
import { checkpointPath, openLogStore, readObject } from '../../shared/history/log-store.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { ServiceError } from '../../shared/runtime/errors.ts';

export const handler = endpoint(getCheckpointRoute, async ({ deadline }) => {
  const found = await readObject(openLogStore(deadline), checkpointPath);
  if (!found) throw new ServiceError('unavailable', 'The log has no checkpoint yet. It gets one within a minute.');
  return { body: Buffer.from(found.bytes).toString() };
});

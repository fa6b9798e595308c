import { unsubscribeRoute } from '../../shared/endpoints/notifications.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { unsubscribe } from '../../shared/notifications/wishes.ts';
import { openKms } from '../../shared/runtime/clients.ts';
import { openTable } from '../../shared/table/table.ts';

export const handler = endpoint(unsubscribeRoute, async ({ path, deadline }) => {
  await unsubscribe(openTable(deadline), openKms(deadline), path.secret);
  return { body: 'You get no more mail about this domain.\n' };
});

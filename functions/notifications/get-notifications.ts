import { getNotificationsRoute } from '../../shared/endpoints/notifications.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { getsMail } from '../../shared/notifications/wishes.ts';
import { mailerOfStage } from '../../shared/notifications/mailer.ts';
import { sharedClient } from '../../shared/runtime/clients.ts';
import { openTable } from '../../shared/table/table.ts';

export const handler = endpoint(getNotificationsRoute, async ({ path, caller, deadline }) => ({
  body: {
    email: await getsMail(openTable(deadline), { domain: path.domainID, userId: caller.id }),
    is_sent: sharedClient(mailerOfStage) !== undefined,
  },
}));

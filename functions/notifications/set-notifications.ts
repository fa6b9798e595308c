import { setNotificationsRoute } from '../../shared/endpoints/notifications.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { askForAddress } from '../../shared/notifications/ask-for-address.ts';
import { mailerOfStage } from '../../shared/notifications/mailer.ts';
import { setMail } from '../../shared/notifications/wishes.ts';
import { openKms, sharedClient } from '../../shared/runtime/clients.ts';

export const handler = changeEndpoint(setNotificationsRoute, {
  change: async ({ request, body, caller, received, table, deadline }) => {
    const find = () => caller.email ?? askForAddress(caller.id, received.headers['authorization'] ?? '');
    const address = body.email ? await find() : undefined;
    return await setMail(table, openKms(deadline), { ...request, address });
  },
  reply: ({ email }) => ({ body: { email, is_sent: sharedClient(mailerOfStage) !== undefined } }),
});

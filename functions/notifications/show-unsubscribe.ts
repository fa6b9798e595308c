import { showUnsubscribeRoute } from '../../shared/endpoints/notifications.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { pageHeaders } from '../../shared/http/page-headers.ts';
import { unsubscribePage } from '../../shared/notifications/wishes.ts';

export const handler = endpoint(showUnsubscribeRoute, () => ({
  body: unsubscribePage(),
  headers: Object.fromEntries(pageHeaders({ submitTo: ["'self'"] })),
}));

import { answerReleaseRoute } from '../../shared/endpoints/releases.ts';
import { changeEndpoint } from '../../shared/http/change-endpoint.ts';
import { answerAsked } from '../../shared/releases/broker.ts';

export const handler = changeEndpoint(answerReleaseRoute, {
  change: ({ request, path, body, table }) => answerAsked(table, { ...request, id: path.id, answer: body }),
  reply: (answered) => ({ body: answered }),
});

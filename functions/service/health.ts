import { healthRoute } from '../../shared/endpoints/service.ts';
import { environment } from '../../shared/runtime/environment.ts';
import { endpoint } from '../../shared/http/endpoint.ts';

export const handler = endpoint(healthRoute, () => {
  const { STAGE, SERVICE_VERSION } = environment();
  return { body: { status: 'ok' as const, stage: STAGE, version: SERVICE_VERSION } };
});

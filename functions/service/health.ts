import { healthContract } from '../../shared/contract/service.ts';
import { environment } from '../../shared/environment.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { healthRoute } from '../../shared/routes.ts';

export const handler = endpoint(healthRoute, healthContract, () => {
  const { STAGE, SERVICE_VERSION } = environment();
  return { body: { status: 'ok' as const, stage: STAGE, version: SERVICE_VERSION } };
});

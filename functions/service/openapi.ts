import { openapiRoute } from '../../shared/endpoints/service.ts';
import { environment } from '../../shared/runtime/environment.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openapiDocument } from '../../shared/openapi/openapi-document.ts';

let known: ReturnType<typeof openapiDocument> | undefined;

export const handler = endpoint(openapiRoute, () => {
  known ??= openapiDocument(environment().SERVICE_VERSION);
  return { body: known };
});

import { openapiContract } from '../../shared/contract/service.ts';
import { environment } from '../../shared/environment.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openapiDocument } from '../../shared/openapi/openapi-document.ts';
import { openapiRoute } from '../../shared/routes.ts';

let known: ReturnType<typeof openapiDocument> | undefined;

export const handler = endpoint(openapiRoute, openapiContract, () => {
  known ??= openapiDocument(environment().SERVICE_VERSION);
  return { body: known };
});

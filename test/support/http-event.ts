import { randomUUID } from 'node:crypto';

/** A request to an endpoint, without the domain. */
export interface EndpointRequest {
  path?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  /** The user who calls. Default: the creator of everything in the domain. */
  by?: string;
}

/** Returns the fields of API Gateway's event (payload format 2.0) that handlers read, for a user with all permissions. */
export function httpEvent(
  method: string,
  domain: string,
  { path, query, body, by = 'alice' }: EndpointRequest,
  headers: Record<string, string> = {},
) {
  return {
    headers: { 'content-type': 'application/json', host: 'api.example.com', ...headers },
    pathParameters: { domainID: domain, ...path },
    queryStringParameters: query,
    requestContext: {
      requestId: randomUUID(),
      http: { method },
      authorizer: { jwt: { claims: { sub: by, 'cognito:groups': `[${domain}:administrator ${domain}:cvm]` } } },
    },
    isBase64Encoded: false,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { contentCors } from '../../shared/http/cors.ts';
import type { AllowsOrigin } from '../http-api/cors.ts';
import { S3Error } from './s3-error.ts';

const { methods, allowHeaders, exposeHeaders, maxAgeInSeconds } = contentCors;

/** Sets the headers that S3 adds to its answer where a rule of the bucket allows the request's origin and method. */
export function setCorsHeaders(request: IncomingMessage, response: ServerResponse, allowsOrigin: AllowsOrigin): void {
  const { origin } = request.headers;
  if (origin === undefined || !allowsOrigin(origin) || !isMethod(request.method)) return;
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-allow-methods', methods.join(', '));
  response.setHeader('access-control-expose-headers', exposeHeaders.join(', '));
  response.setHeader('vary', 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method');
}

/** Lets pages use presigned requests only, and only those of allowed origins. @throws S3Error 403 */
export function refuseOtherPages({ url = '', headers: { origin } }: IncomingMessage, allowsOrigin: AllowsOrigin): void {
  const isPresigned = new URLSearchParams(url.split('?', 2)[1]).has('X-Amz-Signature');
  if (origin === undefined || (isPresigned && allowsOrigin(origin))) return;
  throw new S3Error(403, 'AccessForbidden', 'CORSResponse: This CORS request is not allowed.');
}

/** Answers a preflight as S3 does, which compares the origin, the method and every header with the rules of the bucket. @throws S3Error 403 */
export function answerPreflight(request: IncomingMessage, response: ServerResponse, allowsOrigin: AllowsOrigin): void {
  const { origin, 'access-control-request-method': method, 'access-control-request-headers': wanted = '' } = request.headers;
  const headers = wanted.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim().toLowerCase()]));
  const isAllowed =
    origin !== undefined && allowsOrigin(origin) && isMethod(method) && headers.every((name) => allowHeaders.includes(name));
  if (!isAllowed) {
    throw new S3Error(403, 'AccessForbidden', 'CORSResponse: This CORS request is not allowed.');
  }
  response
    .writeHead(200, {
      'access-control-allow-origin': origin,
      'access-control-allow-methods': methods.join(', '),
      ...(headers.length > 0 ? { 'access-control-allow-headers': headers.join(', ') } : {}),
      'access-control-max-age': String(maxAgeInSeconds),
      vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
      'content-length': 0,
    })
    .end();
}

function isMethod(method: string | undefined): boolean {
  return (methods as readonly (string | undefined)[]).includes(method);
}

import type { IncomingMessage } from 'node:http';
import type { Cors } from '../../shared/http/cors.ts';
import type { ApiResponse } from './http-messages.ts';
import { UsageError } from '../../shared/command-line/arguments.ts';

/** Says whether web pages of an origin may call the API of this machine. */
export type AllowsOrigin = (origin: string) => boolean;

/**
 * Returns the headers that an HTTP API with CORS adds to the answer of a request: none if the request has no allowed origin. The
 * HTTP API also adds the headers to its own answers, and replaces the CORS headers of a function.
 */
export function corsHeaders(message: IncomingMessage, cors: Cors, allowsOrigin: AllowsOrigin): Record<string, string> {
  const { origin } = message.headers;
  if (origin === undefined || !allowsOrigin(origin)) return {};
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': cors.exposeHeaders.join(','),
    vary: 'origin',
  };
}

/** Returns the response of a function without its CORS headers, which an HTTP API with CORS replaces. */
export function withoutCorsHeaders({ headers, ...rest }: ApiResponse): ApiResponse {
  const kept = Object.entries(headers).filter(([name]) => !name.startsWith('access-control-'));
  return { headers: Object.fromEntries(kept), ...rest };
}

/**
 * Returns the answer of an HTTP API with CORS to an OPTIONS request, whatever its path. The HTTP API answers without an
 * authorizer or a function.
 */
export function preflightAnswer(message: IncomingMessage, cors: Cors, allowsOrigin: AllowsOrigin): ApiResponse {
  const { origin } = message.headers;
  const headers: Record<string, string> =
    origin !== undefined && allowsOrigin(origin)
      ? {
          'access-control-allow-methods': cors.methods.join(','),
          'access-control-allow-headers': cors.allowHeaders.join(','),
          'access-control-max-age': String(cors.maxAgeInSeconds),
        }
      : {};
  return { statusCode: 204, headers, body: Buffer.alloc(0) };
}

const ofThisMachine = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;

/**
 * Returns a function that allows web pages of this machine on any port, and of the given origins. A page also needs a token, and
 * only the command line gets a token without signing in at the issuer.
 */
export function allowedOrigins(more: readonly string[] = []): AllowsOrigin {
  return (origin) => ofThisMachine.test(origin) || more.includes(origin);
}

/**
 * Returns the origins of the option --cors-origin in the form that a browser sends. @throws UsageError for a text that is not an
 * origin
 */
export function parseOrigins(given: readonly string[]): string[] {
  return given.map((text) => {
    const { origin, href } = URL.parse(text) ?? {};
    if (origin !== undefined && /^https?:/.test(origin) && href === `${origin}/`) return origin;
    throw new UsageError(`--cors-origin is ${JSON.stringify(text)}; expected an origin such as https://app.example.com.`);
  });
}

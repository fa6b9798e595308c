import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pageHeaders } from '../../shared/http/page-headers.ts';
import { type AllowsOrigin, apiGatewayMessage, readBody, send, sendFile } from '../http-api/http-messages.ts';
import { isOfOtherPage, ownOrigin } from '../machine/listen.ts';
import { authorizationServer } from './authorization-server.ts';
import type { LocalIssuer } from './issuer.ts';

/** The path of the token issuer on the service's own origin. A browser needs to reach only one port. */
export const issuerPath = '/local/issuer';

const files: Record<string, string> = {
  '/sign-in': 'sign-in.html',
  '/device': 'sign-in.html',
  '/sign-in.css': 'sign-in.css',
  '/sign-in.js': 'sign-in.js',
};

/**
 * The paths of the issuer that pages of other allowed origins may call. Such a page proves with its request that it may get a
 * token.
 */
const forOtherPages = ['/.well-known/openid-configuration', '/jwks', '/token'];
const largestBodyInBytes = 64 * 1024;

/**
 * Returns a handler that serves the token issuer to browsers and programs on this machine, with a page to choose a user, to which
 * any page may lead.
 */
export function signInPages(issuer: LocalIssuer, allowsOrigin: AllowsOrigin) {
  const answerTo = authorizationServer(issuer);
  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const [fullPath = '', query = ''] = (request.url ?? '').split('?');
    if (!fullPath.startsWith(`${issuerPath}/`)) return false;
    const path = fullPath.slice(issuerPath.length);
    const { method = '', headers } = request;
    // The policy also holds for where the issuer redirects a form to: a program that waits on this machine.
    response.setHeaders(pageHeaders({ submitTo: ["'self'", 'http://127.0.0.1:*'] }));
    const file = method === 'GET' || method === 'HEAD' ? files[path] : undefined;
    if (file !== undefined) {
      await sendFile(response, join(import.meta.dirname, file), 'no-cache');
      return true;
    }
    const body = (await readBody(request, largestBodyInBytes))?.toString() ?? '';
    const isForOther = headers.origin !== undefined && forOtherPages.includes(path) && allowsOrigin(headers.origin);
    if (isForOther) {
      response.setHeader('access-control-allow-origin', headers.origin ?? '');
      response.setHeader('access-control-allow-headers', 'content-type, authorization');
      response.setHeader('vary', 'origin');
    }
    if (!isForOther && isOfOtherPage(request)) {
      send(response, apiGatewayMessage(403, 'Sign in with a program, or with the page of this service.'));
    } else if (method === 'OPTIONS') send(response, { statusCode: 204, headers: {}, body: Buffer.alloc(0) });
    else {
      const origin = ownOrigin(request) ?? '';
      const asked = { route: `${method} ${path}`, query: new URLSearchParams(query), body, origin };
      send(response, await answerTo({ ...asked, issuer: `${origin}${issuerPath}` }));
    }
    return true;
  };
}

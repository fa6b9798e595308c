import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pageHeaders } from '../../shared/http/page-headers.ts';
import { sendFile, apiGatewayMessage, send, ownOrigin } from '../http-api/http-messages.ts';
import type { LocalIssuer } from './issuer.ts';
import { issuerPath } from './browser-sign-in.ts';

const files: Record<string, string> = {
  [`${issuerPath}/sign-in`]: 'sign-in.html',
  [`${issuerPath}/device`]: 'sign-in.html',
  [`${issuerPath}/sign-in.css`]: 'sign-in.css',
  [`${issuerPath}/sign-in.js`]: 'sign-in.js',
};

/** Serves the issuer to browsers on this machine, with a page to choose a user. */
export function signInPages(signIn: LocalIssuer['signIn']) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const [path = ''] = (request.url ?? '').split('?');
    if (!path.startsWith(`${issuerPath}/`)) return false;
    // The policy also holds for where the issuer redirects a form to: a program that waits on this machine.
    response.setHeaders(pageHeaders({ submitTo: ["'self'", 'http://127.0.0.1:*'] }));
    const origin = ownOrigin(request);
    if (origin === undefined) {
      send(response, apiGatewayMessage(403, 'Sign in under localhost.'));
      return true;
    }
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const file = isRead ? files[path] : undefined;
    if (file === undefined) await signIn(request, response, origin);
    else await sendFile(response, join(import.meta.dirname, file), 'no-cache');
    return true;
  };
}

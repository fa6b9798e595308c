import { request as httpRequest } from 'node:http';
import type { Route } from '../../shared/http/route.ts';
import type { HttpAnswer } from './check-response.ts';

/** A request that is sent exactly as given: path and query are percent-encoded only if the caller has done so. */
export interface RawRequest {
  path: Record<string, string>;
  query: [string, string][];
  headers: Record<string, string>;
  body: string | undefined;
}

/** Sends a request exactly as given. `fetch` would normalize its path. */
export function sendRaw(baseUrl: string, route: Route, request: RawRequest, token: string): Promise<HttpAnswer> {
  const { path, query, headers, body } = request;
  const address = route.path.replace(/\{(\w+)\}/g, (_, name: string) => path[name] ?? '');
  const search = query.map(([name, value]) => `${name}=${value}`).join('&');
  const { hostname, port } = new URL(baseUrl);
  const wire = body === undefined ? undefined : Buffer.from(body);
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      hostname,
      port,
      method: route.method,
      path: `${address}${search ? `?${search}` : ''}`,
      headers: {
        authorization: `Bearer ${token}`,
        ...(wire ? { 'content-length': wire.length } : {}),
        ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Buffer.from(value).toString('latin1')])),
      },
    });
    outgoing.once('error', reject).once('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.once('error', reject).once('end', () => {
        const answered = new Headers(
          Object.entries(response.headersDistinct).map(([name, values]) => [name, (values ?? []).join()] as [string, string]),
        );
        resolve({ status: response.statusCode ?? 0, headers: answered, text });
      });
    });
    outgoing.end(wire);
  });
}

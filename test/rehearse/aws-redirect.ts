import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import { Readable } from 'node:stream';

/**
 * Sends requests for AWS to the emulator, otherwise unchanged: those for content, which is presigned for the bucket's own address, and
 * the call of the purge. `node --import` loads this file first, in the emulated functions and in the suite.
 */
const emulator = process.env['REHEARSAL_ENDPOINT'];
const originalFetch = globalThis.fetch;
const httpsRequest = https.request;

globalThis.fetch = async (input, init) => {
  const request = new Request(input, init);
  const { hostname } = new URL(request.url);
  return emulator && hostname.endsWith('.amazonaws.com') ? sendTo(emulator, request) : originalFetch(request);
};

/** Uses node:https, because `fetch` does not let callers set the Host header, which the signature covers. */
async function sendTo(origin: string, request: Request): Promise<Response> {
  const { host, pathname, search } = new URL(request.url);
  const body = Buffer.from(await request.arrayBuffer());
  const headers = { ...Object.fromEntries(request.headers), host, 'content-length': body.length };
  const { hostname: servername } = new URL(origin);
  const outgoing = httpsRequest(`${origin}${pathname}${search}`, { method: request.method, headers, servername });
  outgoing.end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  const status = answer.statusCode ?? 500;
  const hasBody = status !== 204 && status !== 304;
  if (!hasBody) answer.resume();
  return new Response(hasBody ? Readable.toWeb(answer) : null, { status, headers: answer.headers as Record<string, string> });
}

const faults = process.env['REHEARSAL_FAULTS'];

/** Sends the SDK's requests to a service that the file of faults names to a server that refuses them, as AWS may do and the emulator cannot. */
if (faults !== undefined) {
  https.request = ((options: RequestOptions, answered: (answer: IncomingMessage) => void) => {
    const { service, port } = JSON.parse(readFileSync(faults, 'utf8')) as { service: string; port: number };
    const target = (options.headers as Record<string, string> | undefined)?.['x-amz-target'] ?? '';
    if (service === '' || !target.startsWith(service)) return httpsRequest(options, answered);
    return httpRequest({ host: '127.0.0.1', port, method: 'POST', headers: options.headers }, answered);
  }) as typeof httpsRequest;
  syncBuiltinESMExports();
}

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';

/** The emulator's endpoint, the file with its self-signed certificate, and the region that it emulates. */
export interface EmulatorAddress {
  endpoint: string;
  certificate: string;
  region: string;
}

interface EmulatorRequest {
  path: string;
  headers?: Record<string, string>;
  body?: string;
  method?: string;
  signal?: AbortSignal;
}

interface EmulatorAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** Sends a request to the emulator. Uses node:https, because `fetch` cannot be given a certificate at run time. */
export async function askEmulator(
  { endpoint, certificate }: EmulatorAddress,
  { path, headers = {}, body, method = body === undefined ? 'GET' : 'POST', signal }: EmulatorRequest,
): Promise<EmulatorAnswer> {
  const request = httpsRequest(`${endpoint}${path}`, {
    ca: readFileSync(certificate),
    method,
    headers,
    ...(signal ? { signal } : {}),
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: headersOf(response), text: await text(response) };
}

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const entries = Object.entries(headersDistinct).map(([name, values = []]): [string, string] => [name, values.join(', ')]);
  return new Headers(entries);
}

/** Returns a `fetch` for clients of the API that the emulator serves. */
export function emulatorFetch(emulator: EmulatorAddress): (request: Request) => Promise<Response> {
  return async (request) => {
    const { pathname, search } = new URL(request.url);
    const body = await request.text();
    const { status, headers, text } = await askEmulator(emulator, {
      path: pathname + search,
      method: request.method,
      headers: Object.fromEntries(request.headers),
      ...(body === '' ? {} : { body }),
      signal: request.signal,
    });
    return new Response(text === '' ? null : text, { status, headers });
  };
}

/** Calls an AWS service by its JSON protocol, as root of the emulator's account. The emulator does not check this signature. */
export async function askService(
  emulator: EmulatorAddress,
  { service, target, input }: { service: string; target: string; input: unknown },
): Promise<unknown> {
  const credential = `test/20260101/${emulator.region}/${service}/aws4_request`;
  const { status, text: answer } = await askEmulator(emulator, {
    path: '/',
    headers: {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': target,
      authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=host, Signature=0`,
    },
    body: JSON.stringify(input),
  });
  if (status !== 200) throw new Error(`${target} answered ${status}: ${answer}`);
  return JSON.parse(answer);
}

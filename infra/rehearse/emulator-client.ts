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

/** Sends a request to the emulator. Uses node:https, because `fetch` cannot be given a certificate at run time. */
export async function askEmulator(
  { endpoint, certificate }: EmulatorAddress,
  {
    path,
    headers = {},
    body,
    method = body === undefined ? 'GET' : 'POST',
  }: { path: string; headers?: Record<string, string>; body?: string; method?: string },
): Promise<{ status: number; text: string }> {
  const request = httpsRequest(`${endpoint}${path}`, {
    ca: readFileSync(certificate),
    method,
    headers,
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, text: await text(response) };
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

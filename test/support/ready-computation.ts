import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Client } from 'computation-management-client';
import { repeating } from './repeating-call.ts';

export type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<{ status: number; body: Record<string, unknown> }>;

/** Returns a function that calls the service with a token. */
export function callAs(baseUrl: string, token: string): Call {
  return async (method, path, body, more = {}) => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...more,
    };
    const response = await fetch(baseUrl + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
  };
}

/** Returns a function that calls until the service is not busy, and throws unless it succeeds. */
const succeeding =
  (call: Call) =>
  async (...request: Parameters<Call>) => {
    const { status, body } = await repeating(call)(...request);
    if (status >= 300) throw new Error(`${request[0]} ${request[1]} answered ${status}: ${JSON.stringify(body)}`);
    return body;
  };

/**
 * Creates a computation that is ready to run, with a key of the caller. Goes on while the service is busy.
 * @param given an algorithm to link. Default: a new one
 */
export async function readyComputation(call: Call, domain = 'd1', given?: string): Promise<string> {
  const done = succeeding(call);
  const id = String((await done('POST', `/${domain}/computations`, { name: 'Iris' }))['id']);
  await done('POST', `/${domain}/assets/${given ?? (await anAlgorithm(call, domain))}/${id}`);
  await done('POST', `/${domain}/computations/${id}/key`, { key: publicKey() });
  return id;
}

/** Creates an algorithm. */
export async function anAlgorithm(call: Call, domain = 'd1'): Promise<string> {
  const asset = { file_name: 'algorithm.py', asset_type: 'algorithm', asset: btoa('print(1)') };
  return String((await succeeding(call)('POST', `/${domain}/assets`, { asset }))['id']);
}

/** The same through a client. */
export async function createReadyComputation(client: Client, name: string): Promise<{ id: string; asset: string }> {
  const { id } = await client.createComputation({ body: { name } });
  const content = readFileSync(new URL('../../tools/demo/data/penguin-sizes.py', import.meta.url)).toString('base64');
  const { id: asset } = await client.createAsset({
    body: { asset: { file_name: 'penguin-sizes.py', asset_type: 'algorithm', asset: content } },
  });
  await client.linkAsset({ id: asset, computationID: id });
  await client.uploadKey({ id, body: { key: publicKey() } });
  return { id, asset };
}

/** A new Ed25519 key as base64 of its SubjectPublicKeyInfo. */
export function publicKey(): string {
  return generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
}

import { generateKeyPairSync } from 'node:crypto';

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

/** Creates a computation that is ready to run. */
export async function readyComputation(call: Call, domain = 'd1'): Promise<string> {
  const { body: computation } = await call('POST', `/${domain}/computations`, { name: 'Iris' });
  const asset = { file_name: 'algorithm.py', asset_type: 'algorithm', asset: btoa('print(1)') };
  const { body: algorithm } = await call('POST', `/${domain}/assets`, { asset });
  const id = String(computation['id']);
  await call('POST', `/${domain}/assets/${String(algorithm['id'])}/${id}`);
  const key = generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' });
  await call('POST', `/${domain}/computations/${id}/key`, { key: Buffer.from(key).toString('base64') });
  return id;
}

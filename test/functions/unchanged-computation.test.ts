import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setEnvironment } from '../../infra/local/local-environment.ts';
import { localFunctions } from '../../infra/local/local-functions.ts';
import { Deadline } from '../../shared/deadline.ts';
import { openKms } from '../../shared/kms.ts';
import { startStores, type Stores } from '../support/builders-store.ts';

const invoke = localFunctions();
let stores: Stores;
const calls: string[] = [];

beforeAll(async () => {
  stores = await startStores();
  const times = { acceptInSeconds: 300, silenceInSeconds: 120, runInSeconds: 86_400, stopInSeconds: 120 };
  setEnvironment(stores.endpoints, times, 'ERROR');
  process.env['TABLE_NAME'] = stores.table.name;
  openKms(() => new Deadline()).client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        calls.push(String(commandName));
        return next(args);
      },
    { step: 'initialize' },
  );
});
afterAll(() => stores.stop());

interface Answer {
  statusCode: number;
  headers: Record<string, string>;
  body?: string;
}

async function send(method: string, path: string, { id, body, headers = {} }: { id?: string; body?: object; headers?: object }) {
  calls.length = 0;
  return (await invoke(method === 'POST' ? 'computations/create-computation' : 'computations/get-computation', {
    version: '2.0',
    rawPath: path,
    headers: { 'content-type': 'application/json', ...headers },
    isBase64Encoded: false,
    ...(body ? { body: JSON.stringify(body) } : {}),
    pathParameters: { domainID: 'd1', ...(id === undefined ? {} : { id }) },
    requestContext: {
      requestId: 'r-1',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '::1', userAgent: '' },
      authorizer: { jwt: { claims: { sub: 'alice', 'cognito:groups': '[d1:administrator]' }, scopes: [] } },
    },
  })) as Answer;
}

describe('a computation with a private key that a reader already has', () => {
  it('is answered with 304 without opening the key, by the tag of its creation and of the answer with the key', async () => {
    const given = { name: 'Iris', agent_config: { cert_file: 'cert', server_key: 'TOP SECRET' } };
    const created = await send('POST', '/d1/computations', { body: given });
    const { id } = JSON.parse(created.body ?? '') as { id: string };
    const read = (headers?: object) => send('GET', `/d1/computations/${id}`, { id, ...(headers ? { headers } : {}) });

    const whole = await read();
    expect([whole.statusCode, whole.body]).toEqual([200, expect.stringContaining('TOP SECRET')]);
    expect(calls).toEqual(['DecryptCommand']);
    const etag = whole.headers['etag'] ?? '';
    expect(created.headers['etag']).toBe(etag);

    expect(await read({ 'if-none-match': etag })).toMatchObject({ statusCode: 304, headers: { etag } });
    expect(calls).toEqual([]);
  });
});

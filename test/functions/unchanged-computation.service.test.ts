import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localFunctions } from '../../local/functions/local-functions.ts';
import type { RouteName } from '../../shared/endpoints/endpoints.ts';
import { aroundKms } from '../support/recorded-calls.ts';
import { startStores, type Stores } from '../support/builders-store.ts';
import { httpEvent } from '../support/http-event.ts';
import { setTestEnvironment } from '../support/test-environment.ts';

const invoke = localFunctions();
let stores: Stores;
const calls: string[] = [];

beforeAll(async () => {
  stores = await startStores();
  setTestEnvironment(stores.endpoints, 'ERROR');
  process.env['TABLE_NAME'] = stores.table.name;
  aroundKms((action, call) => {
    calls.push(action);
    return call();
  });
});
afterAll(() => stores.stop());

interface Answer {
  statusCode: number;
  headers: Record<string, string>;
  body?: string;
}

async function send(name: RouteName, event: ReturnType<typeof httpEvent>) {
  calls.length = 0;
  return (await invoke(name, event)) as Answer;
}

describe('a computation with a private key that a reader already has', () => {
  it('is answered with 304 without opening the key, by the tag of its creation and of the answer with the key', async () => {
    const given = { name: 'Iris', agent_config: { cert_file: 'cert', server_key: 'TOP SECRET' } };
    const created = await send('computations/create-computation', httpEvent('POST', 'd1', { body: given }));
    const { id } = JSON.parse(created.body ?? '') as { id: string };
    const read = (headers?: Record<string, string>) =>
      send('computations/get-computation', httpEvent('GET', 'd1', { path: { id } }, headers));

    const whole = await read();
    expect([whole.statusCode, whole.body]).toEqual([200, expect.stringContaining('TOP SECRET')]);
    expect(calls).toEqual(['Decrypt']);
    const etag = whole.headers['etag'] ?? '';
    expect(created.headers['etag']).toBe(etag);

    expect(await read({ 'if-none-match': etag })).toMatchObject({ statusCode: 304, headers: { etag } });
    expect(calls).toEqual([]);
  });
});

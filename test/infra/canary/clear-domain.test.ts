import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, type Client } from '../../../client/create-client.ts';
import { clearDomain } from '../../../infra/canary/clear-domain.ts';
import { startStack, type Stack } from '../../../infra/local/stack.ts';

let stack: Stack;
let client: Client;
const signal = new AbortController().signal;

beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: false });
  client = createClient({
    baseUrl: stack.baseUrl,
    domain: 'canary',
    token: await stack.token('canary', ['canary:administrator']),
  });
});
afterAll(() => stack.stop());

describe('clearDomain', () => {
  it('deletes what was created before the time, and keeps what a call has made that is still at work', async () => {
    const { created_at } = await client.createComputation({ body: { name: 'Left' } });
    const asset = { file_name: 'left.csv', asset_type: 'dataset', asset: btoa('1') } as const;
    await client.createAsset({ body: { asset } });
    await clearDomain(client, created_at, signal);
    expect((await client.listComputations()).total).toBe(1);
    await clearDomain(client, '9999', signal);
    expect([(await client.listComputations()).total, (await client.listAssets()).total]).toEqual([0, 0]);
  });
});

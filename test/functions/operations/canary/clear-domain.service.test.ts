import { type Client, createClient } from 'computation-management-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clearDomain } from '../../../../functions/operations/canary/clear-domain.ts';
import { startStack, type Stack } from '../../../../local/stack.ts';

let stack: Stack;
let canary: Client;
let other: Client;
const signal = new AbortController().signal;

beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: false });
  const clientOf = async (user: string) => {
    const token = await stack.token(user, ['canary:administrator']);
    return createClient({ baseUrl: stack.baseUrl, domain: 'canary', token });
  };
  [canary, other] = [await clientOf('canary'), await clientOf('ada')];
});
afterAll(() => stack.stop());

async function leave(client: Client, name: string, file_name: string): Promise<string> {
  const { created_at } = await client.createComputation({ body: { name } });
  await client.createAsset({ body: { asset: { file_name, asset_type: 'dataset', asset: btoa('1') } } });
  return created_at;
}

const left = async () => {
  const [{ computations }, { assets }] = await Promise.all([canary.listComputations(), canary.listAssets()]);
  return [
    ...computations.map(({ name, owner }) => `${owner}: ${name}`),
    ...assets.map((row) => `${row.created_by}: ${row.file_name}`),
  ];
};

describe('clearDomain', () => {
  it('deletes what the canary created before the time, and keeps what a call has made that is still at work', async () => {
    const before = await leave(canary, 'Canary', 'canary.csv');
    await clearDomain(canary, { owner: 'canary', before }, signal);
    expect(await left()).toEqual(['canary: Canary', 'canary: canary.csv']);
    await clearDomain(canary, { owner: 'canary', before: '9999' }, signal);
    expect(await left()).toEqual([]);
  });

  it('keeps what others made in the domain, and what the user of the canary made under other names', async () => {
    await leave(other, 'Canary', 'canary.csv');
    await leave(canary, 'Mine', 'mine.csv');
    const all = await left();
    expect(all).toHaveLength(4);
    await clearDomain(canary, { owner: 'canary', before: '9999' }, signal);
    expect(await left()).toEqual(all);
  });
});

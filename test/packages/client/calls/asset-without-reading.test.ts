import { expect, it } from 'vitest';
import { assetWithoutReading } from '../../../../packages/client/calls/asset-without-reading.ts';
import { createClient } from '../../../../packages/client/calls/create-client.ts';

const rows = [
  { id: '4', created_by: 'alice', content_access: 'domain' },
  { id: '3', created_by: 'alice', content_access: 'creator' },
  { id: '2', created_by: 'bob', content_access: 'domain' },
];

it.each([
  ['4', 'alice', true],
  ['3', 'alice', true],
  ['2', 'alice', false],
  ['3', 'bob', true],
  ['4', 'bob', false],
  ['2', 'bob', true],
])('the asset %s is shown to %s without reading the content of others (read whole: %s)', async (id, user, isWhole) => {
  const read: string[] = [];
  const client = createClient({
    baseUrl: 'https://service',
    domain: 'd1',
    fetch: async ({ url }) => {
      const { pathname } = new URL(url);
      if (pathname === '/d1/assets') return Response.json({ assets: rows, total: rows.length, limit: 100, offset: 0 });
      read.push(pathname);
      return Response.json({ ...rows.find((row) => row.id === id), asset: 'whole' }, { headers: { etag: '"1"' } });
    },
  });
  const { asset, etag } = await assetWithoutReading(client, { id, user });
  expect(asset).toMatchObject({ id });
  expect(etag).toBe(isWhole ? '"1"' : undefined);
  expect(read).toEqual(isWhole ? [`/d1/assets/${id}`] : []);
});

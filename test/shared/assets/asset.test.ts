import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { storedAsset } from '../../../shared/assets/asset.ts';
import { assetSchema } from '../../../shared/assets/asset-schema.ts';

const hash = 'aB'.repeat(32);
const id = '00000000-0001-8c3a-9f0e-2b7d41c5e6a8';
const now = '2025-07-17T08:00:00.000Z';

const row = {
  id,
  file_name: 'iris.csv',
  description: 'Irises',
  asset_type: 'dataset',
  mime_type: 'text/csv',
  state: 'ready',
  size: 3,
  checksum: hash,
  content_access: 'domain',
  use: 'approval',
  created_by: 'alice',
  created_at: now,
  updated_at: now,
};

describe('assetSchema', () => {
  it('returns every field of an asset that awaits its upload', () => {
    const link = { url: 'https://example.com/a', expires_at: now };
    const asset = {
      ...row,
      state: 'pending',
      user_key: 'key',
      asset: 'YSxi',
      download: link,
      upload: { method: 'PUT', headers: { 'if-none-match': '*' }, ...link },
    };
    expect(v.parse(assetSchema, { ...asset, content_key: 'hidden' })).toEqual(asset);
  });

  it('returns that the content is withheld, and who has read it', () => {
    const asset = { ...row, user_key: '', content_withheld: true, content_reads: [{ user: 'bob', read_at: now }] };
    expect(v.parse(assetSchema, asset)).toEqual(asset);
  });
});

describe('storedAsset', () => {
  it('keeps every field that is stored', () => {
    const stored = { ...row, user_key: 'key', content_key: 'a', content_checksum: 'b', upload_key: 'c', version: 1 };
    expect(v.parse(storedAsset, stored)).toEqual(stored);
  });
});

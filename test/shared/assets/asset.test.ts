import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { assetEtag, assetSchema, storedAsset, type StoredAsset } from '../../../shared/assets/asset.ts';
import { etagOfState } from '../../../shared/http/etags.ts';

const now = '2025-07-17T08:00:00.000Z';
const asset: StoredAsset = {
  id: '00000000-0001-8c3a-9f0e-2b7d41c5e6a8',
  file_name: 'iris.csv',
  description: '',
  asset_type: 'dataset',
  mime_type: 'text/csv',
  state: 'ready',
  size: 4,
  checksum: 'a'.repeat(64),
  content_access: 'creator',
  use: 'open',
  created_by: 'alice',
  created_at: now,
  updated_at: now,
  user_key: '',
  content_key: 'content/inline/1',
  content_checksum: 'a'.repeat(64),
  upload_key: null,
  closing_until: null,
  version: 3,
};
const {
  user_key: _,
  content_key: __,
  content_checksum: ___,
  upload_key: ____,
  closing_until: _____,
  version: ______,
  ...row
} = asset;
const link = { url: 'https://storage.example.com/1?X-Amz-Signature=1', expires_at: now };

describe('assetEtag', () => {
  it('is the same with content, a download, an upload or content_withheld as without', () => {
    const etag = assetEtag(asset);
    expect(etag).toMatch(/^"[\w-]{32}"$/);
    const answers = [
      { ...asset, asset: 'YSxiCg==' },
      { ...asset, download: link },
      { ...asset, upload: { method: 'PUT', headers: {}, ...link } },
      { ...asset, content_withheld: true },
    ];
    expect(answers.map((answer) => assetEtag(answer))).toEqual([etag, etag, etag, etag]);
  });

  it.each<[string, Partial<StoredAsset>]>([
    ['file name', { file_name: 'b.csv' }],
    ['description', { description: 'D' }],
    ['type', { asset_type: 'algorithm' }],
    ['media type', { mime_type: '' }],
    ['state', { state: 'pending' }],
    ['size', { size: 5 }],
    ['checksum', { checksum: null }],
    ['key', { user_key: 'MCow' }],
    ['access to the content', { content_access: 'domain' }],
    ['creator', { created_by: 'bob' }],
    ['time of the last change', { updated_at: '2025-07-17T08:00:00.001Z' }],
    ['content, even with the same checksum and size', { content_key: 'content/inline/2' }],
  ])('changes with the %s', (_what, change) => {
    expect(assetEtag({ ...asset, ...change })).not.toBe(assetEtag(asset));
  });

  it('stays when only the links of the asset change', () => {
    expect(assetEtag({ ...asset, version: 4 })).toBe(assetEtag(asset));
  });

  it('has a second part that changes with every read of the content, and none without reads', () => {
    const reads = [
      { user: 'carol', read_at: now },
      { user: 'bob', read_at: now },
    ];
    const [two, one, none] = [assetEtag(asset, reads), assetEtag(asset, reads.slice(1)), assetEtag(asset, [])];
    expect(two).toMatch(/^"[\w-]{32}\.[\w-]{32}"$/);
    expect(one).not.toBe(two);
    expect([etagOfState(two), etagOfState(one), none]).toEqual([none, none, assetEtag(asset)]);
  });
});

describe('assetSchema', () => {
  it('returns every field of an asset that awaits its upload', () => {
    const upload = { method: 'PUT', headers: { 'if-none-match': '*' }, ...link };
    const shown = { ...row, user_key: 'key', state: 'pending', asset: 'YSxi', download: link, upload };
    expect(v.parse(assetSchema, { ...asset, ...shown })).toEqual(shown);
  });

  it('returns that the content is withheld, and who has read it', () => {
    const shown = { ...row, user_key: '', content_withheld: true, content_reads: [{ user: 'bob', read_at: now }] };
    expect(v.parse(assetSchema, shown)).toEqual(shown);
  });
});

describe('storedAsset', () => {
  it('keeps every field that is stored', () => {
    expect(v.parse(storedAsset, asset)).toEqual(asset);
  });
});

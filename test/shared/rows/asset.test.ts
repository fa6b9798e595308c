import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { assetInput, assetReplacement } from '../../../shared/assets/asset-input.ts';
import { assetSchema, storedAsset, type StoredAsset } from '../../../shared/rows/asset.ts';
import { etagOfState } from '../../../shared/http/etags.ts';
import { assetEtag } from '../../../shared/assets/describe-asset.ts';

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
  source: null,
  kbs: null,
  decompress: null,
  algo_type: null,
  algo_args: null,
  created_by: 'alice',
  created_at: now,
  updated_at: now,
  user_key: '',
  content_key: 'content/inline/1',
  content_checksum: 'a'.repeat(64),
  upload_key: null,
  key: null,
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
  key: _______,
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

const given = { file_name: 'iris.csv', asset_type: 'dataset' };
const isTaken = (fields: Record<string, unknown>) => v.safeParse(assetInput, { asset: { ...given, ...fields } }).success;
const hash = 'aB'.repeat(32);

describe('assetInput', () => {
  it('fills in the fields that may be left out', () => {
    expect(v.parse(assetInput, { asset: given }).asset).toEqual({
      ...given,
      description: '',
      mime_type: '',
      user_key: '',
      content_access: 'creator',
      use: 'open',
    });
  });

  it('keeps every field that is given, with the checksum in lower case', () => {
    const fields = {
      description: 'Irises',
      mime_type: 'text/csv',
      asset: 'YSxi',
      user_key: 'key',
      content_access: 'domain',
      use: 'approval',
      checksum: hash,
    };
    expect(v.parse(assetInput, { asset: { ...given, ...fields } }).asset).toEqual({
      ...given,
      ...fields,
      checksum: hash.toLowerCase(),
    });
  });

  it.each([
    { asset_type: 'algorithm' },
    { file_name: 'a' },
    { file_name: 'x'.repeat(255) },
    { file_name: '...' },
    { file_name: '.a' },
    { description: 'x'.repeat(4000) },
    { mime_type: '' },
    { mime_type: 'text/csv; charset=utf-8' },
    { mime_type: 'text/csv;a="b c";d=e' },
    { user_key: 'x'.repeat(16 * 1024) },
  ])('takes %j', (fields) => {
    expect(isTaken(fields)).toBe(true);
  });

  it.each([
    { asset_type: 'model' },
    { file_name: '' },
    { file_name: 'x'.repeat(256) },
    { file_name: '.' },
    { file_name: '..' },
    { file_name: 'a/b' },
    { file_name: '/a' },
    { file_name: 'a\\' },
    { file_name: 'a\n' },
    { description: 'x'.repeat(4001) },
    { mime_type: 'text' },
    { mime_type: ' text/csv' },
    { mime_type: 'text/csv,' },
    { checksum: hash.slice(1) },
    { checksum: `0${hash}` },
    { checksum: `${hash}0` },
    { checksum: null },
    { content_access: 'nobody' },
    { content_access: '' },
    { content_access: null },
    { use: 'never' },
    { use: null },
    { user_key: 'x'.repeat(16 * 1024 + 1) },
    { state: 'ready' },
  ])('refuses %j', (fields) => {
    expect(isTaken(fields)).toBe(false);
  });
});

describe('assetReplacement', () => {
  it('takes an asset as the service returns it', () => {
    const now = '2025-07-17T08:00:00.000Z';
    const set = { id: '00000000-0001-8c3a-9f0e-2b7d41c5e6a8', state: 'ready', size: 3, created_by: 'alice' };
    const shown = { upload: {}, download: {}, content_withheld: true, content_reads: [] };
    const returned = { ...given, ...set, ...shown, checksum: hash, user_key: '', created_at: now, updated_at: now };
    expect(v.safeParse(assetReplacement, { asset: returned }).success).toBe(true);
  });

  it('takes a checksum, and null, as an asset has that awaits its upload', () => {
    const checksumOf = (checksum: string | null) => v.parse(assetReplacement, { asset: { ...given, checksum } }).asset.checksum;
    expect([checksumOf(hash), checksumOf(null)]).toEqual([hash.toLowerCase(), null]);
  });

  it('leaves out the key and the access to the content if they are absent, so that they stay as they are', () => {
    expect(v.parse(assetReplacement, { asset: given }).asset).toEqual({ ...given, description: '', mime_type: '' });
  });
});

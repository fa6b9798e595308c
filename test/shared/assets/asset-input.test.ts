import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { assetInput, assetReplacement } from '../../../shared/assets/asset-input.ts';

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

import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { jsonSchemaOf } from '../../../shared/openapi/json-schema.ts';
import { manifestSchema, missingItemsSchema } from '../../../shared/manifest/manifest.ts';

const user_key = btoa('key');
const hash = Array.from({ length: 32 }, (_, index) => index * 8);
const dataset = { hash, user_key, filename: 'iris.csv' };
const manifest = {
  id: '00000000-0001-8000-8000-000000000000',
  name: 'Iris',
  description: '',
  datasets: [dataset],
  algorithm: { hash, user_key },
  result_consumers: [{ user_key }],
};
const isManifest = (change: object) => v.safeParse(manifestSchema, { ...manifest, ...change }).success;

describe('manifestSchema', () => {
  it.each([
    ['is complete', {}],
    ['has no datasets', { datasets: [] }],
    ['has the longest texts', { name: 'x'.repeat(200), description: 'x'.repeat(4000) }],
    ['has the longest file name', { datasets: [{ ...dataset, filename: 'x'.repeat(255) }] }],
    ['has the lowest and the highest byte in a hash', { algorithm: { user_key, hash: hash.with(0, 0).with(1, 255) } }],
  ])('accepts a manifest that %s', (_what, change) => {
    expect(isManifest(change)).toBe(true);
  });

  it.each([
    ['has no result consumers', { result_consumers: [] }],
    ['has a file without a name', { datasets: [{ ...dataset, filename: '' }] }],
    ['has an empty key', { algorithm: { hash, user_key: '' } }],
    ['has a key that is not base64', { algorithm: { hash, user_key: '-----' } }],
    ['has a hash of 31 bytes', { algorithm: { user_key, hash: hash.slice(1) } }],
    ['has a hash of 33 bytes', { algorithm: { user_key, hash: [...hash, 0] } }],
    ['has a byte of 256 in a hash', { algorithm: { user_key, hash: hash.with(0, 256) } }],
    ['has a byte of -1 in a hash', { algorithm: { user_key, hash: hash.with(0, -1) } }],
    ['has half a byte in a hash', { algorithm: { user_key, hash: hash.with(0, 0.5) } }],
  ])('refuses a manifest that %s', (_what, change) => {
    expect(isManifest(change)).toBe(false);
  });
});

describe('the documented limits', () => {
  const lengthsOf = (schema: v.GenericSchema) =>
    JSON.stringify(jsonSchemaOf(schema, 'output'))
      .match(/(?<="maxLength":)\d+/g)
      ?.map(Number);

  it('of a manifest are those of the fields that it is built from', () => {
    const { entries } = manifestSchema.pipe[0];
    expect([lengthsOf(entries.name), lengthsOf(entries.description)]).toEqual([[200], [4000]]);
    expect(lengthsOf(entries.datasets)).toEqual([16 * 1024, 255]);
  });

  it('of missing items are those of users, file names and sentences', () => {
    const { keys, hashes, info } = missingItemsSchema.pipe[0].entries;
    expect([lengthsOf(keys), lengthsOf(hashes), lengthsOf(info)]).toEqual([[255], [255], [1_000]]);
  });
});

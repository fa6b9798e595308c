import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { defaultAgentConfig } from '../../../shared/rows/agent-config.ts';
import { approvableOf, buildManifest, manifestSchema, missingItemsSchema } from '../../../shared/rows/manifest.ts';
import { jsonSchemaOf } from '../../../shared/openapi/json-schema.ts';
import { aKeyOf, anAssetRow, id, inputs, key } from '../../support/builders-store.ts';
import { sealedAs } from '../../support/sealed-as.ts';

const user_key = btoa('key');
const hash = Array.from({ length: 32 }, (_, index) => index * 8);
const dataset = { hash, user_key, filename: 'iris.csv' };
const manifest = {
  id,
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
    expect(lengthsOf(entries.datasets)).toEqual([16 * 1024, 255, 2_048, 255, 2_048]);
  });

  it('of missing items are those of users, file names and sentences', () => {
    const { keys, hashes, info } = missingItemsSchema.pipe[0].entries;
    expect([lengthsOf(keys), lengthsOf(hashes), lengthsOf(info)]).toEqual([[255], [255], [1_000]]);
  });
});

describe('buildManifest', () => {
  it('returns hashes as 32 integers, and uploaded keys', () => {
    const hash = Array.from({ length: 32 }, () => 7);
    expect(buildManifest(inputs()).manifest).toEqual({
      id,
      name: 'Iris',
      description: '',
      algorithm: { hash, user_key: key('bob') },
      datasets: [{ hash, user_key: key('bob'), filename: 'iris.csv' }],
      result_consumers: [{ user_key: key('alice') }],
    });
  });

  it('says under the names of the agent what it fetches, and leaves out what is empty', () => {
    const url = 'https://files.example.com/a';
    const given = inputs({
      algorithm: anAssetRow({
        asset_type: 'algorithm',
        source: { type: 'oci-image', url: 'docker://example.com/a:1', kbs_resource_path: 'default/key/a' },
        kbs: { url: 'https://kbs.example.com' },
        algo_type: 'python',
        algo_args: ['--rows', ''],
      }),
      datasets: [
        anAssetRow({ source: { type: 'https', url }, decompress: true, size: null }),
        anAssetRow({ file_name: 'b.csv', source: { type: 'https', url }, decompress: false }),
        anAssetRow({ file_name: 'c.csv' }),
      ],
    });
    const { manifest, digest } = approvableOf(given);
    const hash = Array.from({ length: 32 }, () => 7);
    const file = { hash, user_key: key('bob') };
    expect(manifest).toMatchObject({
      algorithm: {
        ...file,
        source: { url: 'docker://example.com/a:1', kbs_resource_path: 'default/key/a', encrypted: true },
        kbs: { url: 'https://kbs.example.com', enabled: true },
        algo_type: 'python',
        algo_args: ['--rows', ''],
      },
    });
    expect(manifest?.datasets).toEqual([
      { ...file, filename: 'iris.csv', source: { url }, kbs: { enabled: true }, decompress: true },
      { ...file, filename: 'b.csv', source: { url }, kbs: { enabled: true } },
      { ...file, filename: 'c.csv' },
    ]);
    expect(digest).toBe('c05b923dab5eb0d898d93239754b6a93579d00f25ea71a59beb5883d47a5e610');
    expect(approvableOf(inputs()).digest).toBe('de1b435afe6c88cba60ef97d2c140affb587f5e4c533778e9f6fbd826b3436f8');
  });

  it('says which key decrypts a file that a party sends', () => {
    const sent = { source: { kbs_resource_path: 'default/key/a' }, kbs: { url: 'https://kbs.example.com' }, size: null };
    const { manifest } = approvableOf(inputs({ datasets: [anAssetRow(sent)] }));
    expect(manifest?.datasets).toMatchObject([
      {
        filename: 'iris.csv',
        source: { kbs_resource_path: 'default/key/a', encrypted: true },
        kbs: { url: 'https://kbs.example.com', enabled: true },
      },
    ]);
    expect(manifest?.datasets[0]?.source).not.toHaveProperty('url');
  });

  it('is incomplete while a source names a key and no key broker', () => {
    const source = { type: 'https', url: 'https://files.example.com/a', kbs_resource_path: 'default/key/a' } as const;
    expect(buildManifest(inputs({ datasets: [anAssetRow({ source })] })).missing?.info).toEqual([
      'source.kbs_resource_path of iris.csv is set without kbs',
    ]);
  });

  it("uses an asset's own key before its creator's", () => {
    const { manifest } = buildManifest(inputs({ datasets: [anAssetRow({ user_key: key('asset') })] }));
    expect(manifest?.datasets[0]?.user_key).toBe(key('asset'));
  });

  it('lists the owner first among the consumers, then others with the role by the time of their key and by their names', () => {
    const keys = [
      aKeyOf('abel', { is_consumer: true, uploaded_at: '2025-07-18T08:00:00.000Z' }),
      aKeyOf('dora', { is_consumer: true }),
      aKeyOf('carl', { is_consumer: true }),
      aKeyOf('bob'),
      aKeyOf('alice'),
    ];
    const consumersOf = (consumers: string[]) =>
      buildManifest(inputs({ keys, consumers })).manifest?.result_consumers.map(({ user_key }) => user_key);
    expect(consumersOf([])).toEqual(['alice', 'carl', 'dora', 'abel'].map(key));
    // or only those whom the computation names
    expect(consumersOf(['dora', 'bob', 'erin'])).toEqual(['alice', 'bob', 'dora'].map(key));
    expect(consumersOf(['alice'])).toEqual(['alice'].map(key));
  });
  it('returns each missing key, file and fact once', () => {
    const pending = anAssetRow({ state: 'pending', checksum: null, content_key: null });
    const sample = anAssetRow({ file_name: 'sample.csv', state: 'pending' });
    const agent_config = { ...defaultAgentConfig, server_key: sealedAs('key.pem') };
    const { missing, manifest } = buildManifest(
      inputs({ algorithm: undefined, datasets: [pending, sample], keys: [], agent_config }),
    );
    expect([manifest, missing]).toEqual([
      undefined,
      {
        keys: ['bob', 'alice'],
        hashes: ['iris.csv', 'sample.csv'],
        info: ['Missing algorithm', 'agent_config.server_key is set without agent_config.cert_file'],
      },
    ]);
  });

  it('returns what an algorithm lacks: its content, and the key of its creator', () => {
    const algorithm = anAssetRow({ file_name: 'algorithm.py', asset_type: 'algorithm', created_by: 'carl', state: 'pending' });
    const { missing } = buildManifest(inputs({ algorithm }));
    expect(missing).toEqual({ keys: ['carl'], hashes: ['algorithm.py'], info: [] });
  });

  it('returns a certificate without its key as missing info, and accepts both together', () => {
    const given = { ...defaultAgentConfig, cert_file: 'cert.pem' };
    const alone = buildManifest(inputs({ agent_config: given }));
    expect(alone.missing?.info).toEqual(['agent_config.cert_file is set without agent_config.server_key']);
    expect(buildManifest(inputs({ agent_config: { ...given, server_key: sealedAs('key.pem') } })).missing).toBeUndefined();
  });

  it('makes a manifest of up to 256 KiB, and names the limit for one more byte', () => {
    const withDescription = (length: number) => {
      const { computation } = inputs();
      return buildManifest(inputs({ computation: { ...computation, description: 'x'.repeat(length) } }));
    };
    const room = 256 * 1024 - JSON.stringify(withDescription(0).manifest).length;
    expect(withDescription(room).manifest?.description).toHaveLength(room);
    expect(withDescription(room + 1).missing?.info).toEqual([expect.stringContaining('the limit is 262144')]);
  });
});

import { describe, expect, it } from 'vitest';
import { defaultAgentConfig } from '../../../shared/computations/agent-config.ts';
import { buildManifest } from '../../../shared/manifest/manifest.ts';
import { aKeyOf, anAssetRow, id, inputs, key } from '../../support/builders-store.ts';
import { sealedAs } from '../../support/sealed-as.ts';

describe('buildManifest', () => {
  it('returns hashes as 32 integers, and the keys that providers uploaded to the computation', () => {
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

  it("uses an asset's own key before its creator's", () => {
    const { manifest } = buildManifest(inputs({ datasets: [anAssetRow({ user_key: key('asset') })] }));
    expect(manifest?.datasets[0]?.user_key).toBe(key('asset'));
  });

  it('lists the owner first among the consumers, then others with the role by the time of their key and by their names', () => {
    const later = '2025-07-18T08:00:00.000Z';
    const keys = [
      aKeyOf('abel', { is_consumer: true, uploaded_at: later }),
      aKeyOf('dora', { is_consumer: true }),
      aKeyOf('carl', { is_consumer: true }),
      aKeyOf('bob'),
      aKeyOf('alice'),
    ];
    const { manifest } = buildManifest(inputs({ keys }));
    expect(manifest?.result_consumers.map(({ user_key }) => user_key)).toEqual(['alice', 'carl', 'dora', 'abel'].map(key));
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

  it('returns the size limit as missing info for a manifest that exceeds it', () => {
    const keys = [
      ...inputs().keys,
      ...Array.from({ length: 200 }, (_, index) => aKeyOf(`u${index}`, { is_consumer: true, user_key: btoa('k'.repeat(1500)) })),
    ];
    expect(buildManifest(inputs({ keys })).missing?.info).toEqual([expect.stringContaining('the limit is 262144')]);
  });

  it('makes a manifest of up to 256 KiB, and none of one more byte', () => {
    const withDescription = (length: number) => {
      const { computation } = inputs();
      return buildManifest(inputs({ computation: { ...computation, description: 'x'.repeat(length) } }));
    };
    const room = 256 * 1024 - JSON.stringify(withDescription(0).manifest).length;
    expect(withDescription(room).manifest?.description).toHaveLength(room);
    expect(withDescription(room + 1).missing?.info).toHaveLength(1);
  });
});

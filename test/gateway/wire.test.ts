import { describe, expect, it } from 'vitest';
import { encodeRunRequest, runRequestEncoding } from '../../gateway/wire/protocol.ts';
import { buildManifest } from '../../shared/rows/manifest.ts';
import { anAssetRow, id, inputs } from '../support/builders-store.ts';

describe('encodeRunRequest', () => {
  it('tells the agent what it fetches, and nothing of that for a file that a party sends', () => {
    const source = { type: 'https', url: 'https://files.example.com/a', kbs_resource_path: 'default/key/a' } as const;
    const kbs = { url: 'https://kbs.example.com' };
    const algorithm = anAssetRow({ asset_type: 'algorithm', source, kbs, algo_type: 'python', algo_args: ['-n', '3'] });
    const fetched = anAssetRow({
      file_name: 'b.csv',
      source: { type: 'http', url: 'http://files.example.com/b' },
      decompress: true,
    });
    const { manifest } = buildManifest(inputs({ algorithm, datasets: [fetched, anAssetRow()] }));
    const at = '2025-07-17T08:00:00.000Z';
    const command = { id, type: 'run', run_id: id, computation_id: id, issued_at: at, expires_at: at } as const;
    if (!manifest) throw new Error('The manifest is incomplete.');
    const { encode: _, decode } = runRequestEncoding();
    const none = { type: '', url: '', kbs_resource_path: '', encrypted: false };
    expect(decode(Buffer.from(encodeRunRequest({ ...command, manifest })))).toMatchObject({
      algorithm: {
        source: { ...none, url: source.url, kbs_resource_path: source.kbs_resource_path, encrypted: true },
        kbs: { ...kbs, enabled: true },
        algo_type: 'python',
        algo_args: ['-n', '3'],
      },
      datasets: [
        {
          filename: 'b.csv',
          source: { ...none, url: 'http://files.example.com/b' },
          decompress: true,
          kbs: { url: '', enabled: true },
        },
        { filename: 'iris.csv', source: null, decompress: false, kbs: null },
      ],
    });
  });
});

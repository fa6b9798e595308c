import type { Schemas } from 'computation-management-client';
import { describeCoverage } from 'computation-management-words';
import { describe, expect, it } from 'vitest';
import { strictPolicy } from '../../support/strict-policy.ts';

const key = (letter: string) => letter.repeat(4);
const manifest = {
  id: 'c',
  name: 'n',
  description: '',
  algorithm: { hash: [1], user_key: key('a') },
  datasets: [],
  result_consumers: [{ user_key: key('b') }],
};
const agent_config = { cert_file: '', server_ca_file: '', client_ca_file: '', attested_tls: true };
const policy = { ...strictPolicy, measurements: ['a'.repeat(96)] };
const safe = { agent_config, approval: 'all', attestation_policy: policy, log_access: 'none', result_review: null } as const;
const fetched = { ...manifest, algorithm: { ...manifest.algorithm, source: { url: 'https://example.com/a.py' } } };
const fetchedFrom = (url: string, kbs = url) => ({
  ...manifest,
  algorithm: { ...manifest.algorithm, source: { url }, kbs: { url: kbs, enabled: true as const } },
});
const row = { asset_type: 'algorithm', checksum: '01', created_by: 'alice' };
const owners = { assets: [row as Schemas['AssetRow']], usersWith: () => ['bob'] };

describe('what an approval does not protect from', () => {
  it('is that nobody but its creator knows who holds the key of a file', () => {
    const path = 'asset-1/key/1';
    const source = { kbs_resource_path: path };
    const keyed = { ...row, id: 'asset-1', file_name: 'a.py' } as Schemas['AssetRow'];
    const cautionsWith = (kbs_resource_path: string) =>
      describeCoverage({ ...manifest, algorithm: { ...manifest.algorithm, source: { ...source, kbs_resource_path } } }, safe, {
        ...owners,
        assets: [keyed],
      }).cautions.join(' ');
    expect(cautionsWith(path)).toContain('The key of a.py goes only to the machine of an approved run');
    expect(cautionsWith(path)).toContain('alice, or the operator of this service for alice.');
    expect(cautionsWith('default/key/1')).not.toContain('The key of a.py');
  });

  it('is always that the service names the parties', () => {
    const { cautions } = describeCoverage(fetched, safe, owners);
    expect(cautions).toEqual([
      expect.stringContaining('can give the same machine another computation'),
      expect.stringContaining('Compare each fingerprint with its owner.'),
    ]);
  });

  it.each([
    [{ configuration: { ...safe, attestation_policy: null } }, 'Any machine may run this'],
    [{ configuration: { ...safe, attestation_policy: { ...policy, allow_debug: true } } }, 'may debug it'],
    [{ configuration: { ...safe, agent_config: { ...agent_config, attested_tls: false } } }, 'TLS is not attested'],
    [{ configuration: { ...safe, log_access: 'parties' as const } }, 'All parties may read the logs'],
    [{ manifest: fetchedFrom('http://169.254.169.254/latest/meta-data/') }, "the machine's own link, where clouds give"],
    [
      { manifest: fetchedFrom('docker://[::ffff:7f00:1]:5000/a') },
      'fetches from "docker://[::ffff:7f00:1]:5000/a", which is the machine itself',
    ],
    [{ manifest: fetchedFrom('https://example.com/a', 'http://localhost:8080') }, 'fetches from "http://localhost:8080"'],
    [{ manifest }, 'The arguments of the algorithm are not covered'],
    [{ owners: { ...owners, assets: [] } }, 'The key invalid: "aaaa" belongs to nobody'],
    [{ owners: { ...owners, usersWith: () => [] } }, 'The key invalid: "bbbb" belongs to nobody'],
    [{ owners: { ...owners, assets: [{ ...row, checksum: '02' } as Schemas['AssetRow']] } }, 'The key invalid: "aaaa" belongs'],
  ])('is said of %j', (given, said) => {
    const all = { manifest: fetched, configuration: safe, owners, ...given };
    const { cautions } = describeCoverage(all.manifest, all.configuration, all.owners);
    expect(cautions.filter((caution) => caution.includes(said))).toHaveLength(1);
  });
});

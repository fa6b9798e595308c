import { cautionsOf } from 'computation-management-words';
import { describe, expect, it } from 'vitest';

const manifest: Parameters<typeof cautionsOf>[0]['manifest'] = { algorithm: {} };
const agent_config = { cert_file: '', server_ca_file: '', client_ca_file: '', attested_tls: true };
const policy = { platforms: ['snp' as const], measurements: ['a'.repeat(96)], minimum_tcb: null, allow_debug: false };
const safe = { agent_config, approval: 'all', attestation_policy: policy, log_access: 'none' } as const;
const fetched = { ...manifest, algorithm: { source: { url: 'https://example.com/a.py' } } };

describe('what an approval does not protect from', () => {
  it('is always that the service names the parties', () => {
    const cautions = cautionsOf({ manifest: fetched, configuration: safe, ownerless: [] });
    expect(cautions).toEqual([expect.stringContaining('Compare each fingerprint with its owner.')]);
  });

  it.each([
    [{ configuration: { ...safe, attestation_policy: null } }, 'Any machine may run this'],
    [{ configuration: { ...safe, attestation_policy: { ...policy, allow_debug: true } } }, 'may debug it'],
    [{ configuration: { ...safe, agent_config: { ...agent_config, attested_tls: false } } }, 'TLS is not attested'],
    [{ configuration: { ...safe, log_access: 'parties' as const } }, 'All parties may read the logs'],
    [{ manifest }, 'The arguments of the algorithm are not covered'],
    [{ ownerless: ['SHA256:x'] }, 'The key SHA256:x belongs to nobody'],
  ])('is said of %j', (given, said) => {
    const cautions = cautionsOf({ manifest: fetched, configuration: safe, ownerless: [], ...given });
    expect(cautions).toHaveLength(2);
    expect(cautions[0]).toContain(said);
  });
});

import { describe, expect, it } from 'vitest';
import { strictPolicy } from '../../support/strict-policy.ts';
import { fetchLines, manifestLines, policyCautions, policyLines } from '../../../packages/words/lines.ts';

describe('policyLines', () => {
  it('says every rule of a policy, or that there is none', () => {
    const minimum_tcb = { bootloader: 3, tee: 0, snp: 8, microcode: 115, fmc: null };
    const policy = { ...strictPolicy, measurements: ['0a'.repeat(48)], minimum_tcb };
    expect(policyLines(policy)).toEqual([
      'Platforms: snp',
      `Measurement: ${'0a'.repeat(48)}`,
      'Least version of the bootloader: 3',
      'Least version of the TEE: 0',
      'Least version of the SNP firmware: 8',
      'Least version of the microcode: 115',
      'The report comes from privilege level 0, the measured software itself',
      'The machine has accepted no other run before',
      'The host may not debug the CVM',
      'The run ends as failed if the connection that attested closes',
    ]);
    const loose = { ...policy, platforms: ['snp' as const, 'tdx' as const], vmpl: 2, allow_debug: true };
    expect(policyLines({ ...loose, allow_reconnect: true, allow_used_guest: true }).slice(6)).toEqual([
      "Intel's statuses of its versions: UpToDate",
      "Intel's advisories that are accepted: none",
      'The report may come from privilege level 0 to 2: software below the measured paravisor may have asked for it',
      'The machine may have worked on another run before, and may keep what it saw there',
      'The host may debug the CVM and read its memory',
      'After a lost connection the run goes on with whoever has the private key of the certificate: nothing proves that it is the same machine',
    ]);
    expect(policyLines(null)).toEqual(['None: a run may use any CVM']);
  });
});

describe('policies of machines with a vTPM', () => {
  const sha256 = { '7': 'ab'.repeat(32), '11': 'cd'.repeat(32) };
  const ofAmd = [/privilege level 0 to 3/, /worked on another run before/];
  const ofIntel = [/statuses of its versions: OutOfDate/, /INTEL-SA-00837/];
  it.each([
    ['snp-vtpm', ofAmd, ofIntel],
    ['az-snp-vtpm', ofAmd, ofIntel],
    ['az-tdx-vtpm', ofIntel, ofAmd],
    ['of-tomorrow' as never, [...ofAmd, ...ofIntel], []],
  ] as const)('say all rules of the family of %s, and each PCR', (platform, said, unsaid) => {
    const policy = {
      ...strictPolicy,
      platforms: [platform],
      vmpl: 3,
      allow_used_guest: true,
      accepted_tcb_statuses: ['OutOfDate' as const],
      accepted_advisories: ['INTEL-SA-00837'],
      pcrs: { sha256 },
    };
    const lines = policyLines(policy).join('\n');
    for (const each of [...said, `PCR 7: ${sha256['7']}`, `PCR 11: ${sha256['11']}`]) expect(lines).toMatch(each);
    for (const each of unsaid) expect(lines).not.toMatch(each);
  });

  it('warn where the measurement or the PCRs prove less than they seem to', () => {
    const cautions = (
      platform: 'az-snp-vtpm' | 'az-tdx-vtpm' | 'snp' | 'snp-vtpm' | 'tdx',
      pcrs: { sha256: typeof sha256 } | null,
    ) => policyCautions({ platforms: [platform], pcrs });
    for (const platform of ['az-snp-vtpm', 'az-tdx-vtpm'] as const) {
      expect(cautions(platform, null)).toEqual([expect.stringContaining('any VM of any Azure customer')]);
      expect(cautions(platform, { sha256 })).toEqual([]);
      expect(policyLines({ ...strictPolicy, platforms: [platform] })).toContain('PCRs of its vTPM: any');
    }
    expect(cautions('snp-vtpm', { sha256 })).toEqual([expect.stringContaining('the PCRs that the host likes')]);
    for (const platform of ['snp', 'tdx'] as const) expect(cautions(platform, null)).toEqual([]);
  });
});

describe('fetchLines', () => {
  it('says all that an agent is told about a file, and nothing of one that a party sends', () => {
    expect(fetchLines({ source: null, algo_type: null })).toEqual([]);
    const source = { url: 'https://files.example.com/a', kbs_resource_path: 'default/key/a' };
    const kbs = { url: 'https://kbs.example.com' };
    expect(fetchLines({ source, kbs, decompress: true, algo_type: 'bin', algo_args: ['a b'] })).toEqual([
      'fetched by the agent from https://files.example.com/a',
      'decrypted with the key default/key/a',
      'keys from https://kbs.example.com',
      'unpacked by the agent',
      'run as bin',
      'arguments ["a b"]',
    ]);
  });
});

describe('manifestLines', () => {
  it('says every member, also without a source, of another type, or that nobody knows, so that none passes for another', () => {
    const hash = [1];
    const source = { url: 'https://files.example.com/a', kbs_resource_path: 'k', encrypted: true };
    expect(manifestLines({ hash, source, kbs: { enabled: true } }, ['hash'])).toEqual([
      'fetched by the agent from https://files.example.com/a',
      'decrypted with the key k',
      'encrypted',
      'the agent may use the network for it',
    ]);
    const strange = {
      kbs: { url: 'https://kbs.example.com', enabled: false },
      algo_type: 'bin, unpacked by the agent',
      algo_args: ['--all', 'é', 7],
      encrypted: true,
      decompress: 'yes',
      source: null,
      mount: { 'a.b\u202e': [], none: {} },
    };
    expect(manifestLines(strange)).toEqual([
      'keys from https://kbs.example.com',
      'also kbs.enabled: false',
      'run as "bin, unpacked by the agent"',
      'arguments ["--all","é" (not ASCII: U+00E9),7]',
      'also encrypted: true',
      'also decompress: yes',
      'also source: null',
      'also mount."a.b\\u{202E}": []',
      'also mount.none: {}',
    ]);
  });
});

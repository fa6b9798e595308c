import { attestationPolicyInput, isAgentUrl } from 'computation-management-formats/attestation';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';

describe('the URL of an agent', () => {
  it.each([
    'localhost:7002',
    'cvm-1.example.com:1',
    'CVM:65535',
    '192.0.2.1:7002',
    '[2001:db8::1]:7002',
    '[::1]:443',
    '[::ffff:192.0.2.1]:443',
    `${'a'.repeat(63)}.${'b'.repeat(63)}:80`,
  ])('can be %s', (url) => expect(isAgentUrl(url)).toBe(true));

  it.each([
    '',
    'localhost',
    ':7002',
    'localhost:0',
    'localhost:65536',
    'localhost:070',
    'localhost:7002/',
    'https://localhost:7002',
    'user@localhost:7002',
    'local host:7002',
    '-a.example:7002',
    'a..example:7002',
    `${'a'.repeat(64)}:80`,
    '192.0.2.256:7002',
    '192.0.2:7002',
    '192.0.2.01:7002',
    '2001:db8::1:7002',
    '[2001:db8:::1]:7002',
    '[]:7002',
    '[192.0.2.1]:7002',
    'münchen.example:7002',
    ' localhost:7002',
    'localhost:7002\n',
  ])('cannot be %j', (url) => expect(isAgentUrl(url)).toBe(false));
});

describe('an attestation policy', () => {
  const least = { platforms: ['snp'], measurements: ['0A'.repeat(48)] };
  const withVtpm = { ...least, platforms: ['snp-vtpm'] };

  it("accepts Intel's advisories, and its notices about processors that it no longer services", () => {
    const accepted_advisories = ['INTEL-DOC-10000', 'INTEL-SA-00837'];
    const policy = { platforms: ['tdx'], measurements: ['ab'.repeat(48)], accepted_advisories };
    expect(v.parse(attestationPolicyInput, policy)).toMatchObject({ accepted_advisories });
    expect(v.is(attestationPolicyInput, { ...policy, accepted_advisories: ['INTEL-X-10000'] })).toBe(false);
  });

  it('has its defaults, and its lists sorted, unique and in lower case', () => {
    const given = {
      platforms: ['tdx', 'snp', 'tdx'].slice(0, 2),
      measurements: ['0B'.repeat(48), '0a'.repeat(48), '0b'.repeat(48)],
    };
    expect(v.parse(attestationPolicyInput, given)).toEqual({
      platforms: ['snp', 'tdx'],
      measurements: ['0a'.repeat(48), '0b'.repeat(48)],
      pcrs: null,
      vmpl: 0,
      minimum_tcb: null,
      accepted_tcb_statuses: ['UpToDate'],
      accepted_advisories: [],
      allow_debug: false,
      allow_reconnect: false,
      allow_used_guest: false,
    });
  });

  it('takes PCRs of platforms with a vTPM, in lower case, and a least FMC', () => {
    const minimum_tcb = { bootloader: 1, tee: 0, snp: 0, microcode: 0, fmc: 1 };
    const given = { ...withVtpm, pcrs: { sha256: { 23: 'AB'.repeat(32) } }, minimum_tcb };
    expect(v.parse(attestationPolicyInput, given)).toMatchObject({ pcrs: { sha256: { 23: 'ab'.repeat(32) } }, minimum_tcb });
  });

  it('says of a wrong entry which names it may be, and of a wrong list what it has', () => {
    const refused = (given: object) =>
      v.safeParse(attestationPolicyInput, { ...least, ...given }).issues?.map(({ message }) => message);
    expect(refused({ platforms: ['sgx'] })).toEqual(['Expected one of az-snp-vtpm, az-tdx-vtpm, snp, snp-vtpm, tdx.']);
    expect(refused({ platforms: 'snp' })).toEqual([
      'Expected a list of platforms (az-snp-vtpm, az-tdx-vtpm, snp, snp-vtpm, tdx).',
    ]);
    expect(refused({ accepted_tcb_statuses: ['Fine'] })).toEqual([expect.stringMatching(/^Expected one of Config/)]);
  });

  it.each([
    ['no platform', { ...least, platforms: [] }],
    ['another platform', { ...least, platforms: ['sgx'] }],
    ['no measurement', { ...least, measurements: [] }],
    ['33 measurements', { ...least, measurements: Array.from({ length: 33 }, (_, at) => at.toString(16).padStart(96, '0')) }],
    ['a measurement of 95 digits', { ...least, measurements: ['a'.repeat(95)] }],
    ['a measurement of other letters', { ...least, measurements: ['g'.repeat(96)] }],
    ['no platforms at all', { measurements: least.measurements }],
    ['a part of a least version', { ...least, minimum_tcb: { bootloader: 1 } }],
    ['a version of 256', { ...least, minimum_tcb: { bootloader: 1, tee: 0, snp: 256, microcode: 0 } }],
    ['a version of 0.5', { ...least, minimum_tcb: { bootloader: 0.5, tee: 0, snp: 0, microcode: 0 } }],
    ['a privilege level of 4', { ...least, vmpl: 4 }],
    ['PCRs of platforms without a vTPM', { ...least, pcrs: { sha256: { 4: 'ab'.repeat(32) } } }],
    ['no PCR', { ...withVtpm, pcrs: { sha256: {} } }],
    ['PCR 24', { ...withVtpm, pcrs: { sha256: { 24: 'ab'.repeat(32) } } }],
    ['PCR 04', { ...withVtpm, pcrs: { sha256: { '04': 'ab'.repeat(32) } } }],
    ['a short value of a PCR', { ...withVtpm, pcrs: { sha256: { 4: 'ab' } } }],
    ['PCRs of another bank', { ...withVtpm, pcrs: { sha1: { 4: 'ab'.repeat(20) } } }],
    ['a least FMC of 256', { ...least, minimum_tcb: { bootloader: 1, tee: 0, snp: 0, microcode: 0, fmc: 256 } }],
    ['a status that Intel does not have', { ...least, accepted_tcb_statuses: ['Fine'] }],
    ['the status of revoked versions', { ...least, accepted_tcb_statuses: ['Revoked'] }],
    ['an advisory of another form', { ...least, accepted_advisories: ['intel-sa-1'] }],
    ['a text as allow_reconnect', { ...least, allow_reconnect: 'yes' }],
    ['a text as allow_debug', { ...least, allow_debug: 'yes' }],
    ['another field', { ...least, firmware: [] }],
  ])('is refused with %s', (_what, given) => expect(v.is(attestationPolicyInput, given)).toBe(false));
});

import { createHash } from 'node:crypto';
import { type AttestationPolicy, checkPolicy, failedChecks, type Verdict } from 'computation-management-attestation';
import { byTestRoots } from './by-test-roots.ts';
import { encode, Tagged } from 'cborg';
import { describe, expect, it } from 'vitest';
import { strictPolicy } from '../../support/strict-policy.ts';
import { failingChecks } from './failing-checks.ts';
import { coseOf, field, forgeSnp, jwtOf, messageOf, type SnpChange } from './forge-snp.ts';
import { bodyOf, forgeTdx } from './forge-tdx.ts';

const { verifyTdxQuote, verifyToken } = byTestRoots;

const { report, certificates, options } = forgeSnp();
const { certificates: _, ...withoutCertificates } = options;
const message = messageOf(report, certificates);
const claims = { platform_type: 'SNP', raw_report: message };
const debug: SnpChange = { report: (bytes) => bytes.set([0b1010], 0x0a) };

async function snpVerdict(change?: SnpChange) {
  const forged = forgeSnp(change);
  return verifyToken(coseOf({ ...claims, raw_report: messageOf(forged.report, forged.certificates) }), forged.options);
}

describe('verify token', () => {
  it.each([
    ['COSE', coseOf],
    ['a JWT', jwtOf],
  ])('verifies an SNP report with its certificates, and a TDX quote, in %s', async (_, tokenOf) => {
    const token = tokenOf(claims);
    const verdict = await verifyToken(token, withoutCertificates);
    expect(verdict).toMatchObject({ verdict: 'verified', platform: 'snp', measurement: 'ab'.repeat(48) });
    expect(verdict.token_hash).toBe(createHash('sha256').update(token).digest('hex'));
    expect(verdict).toMatchObject({ guest: report.toString('hex', 0x140, 0x160), vmpl: 0 });
    expect((await verifyToken(tokenOf({ ...claims, raw_report: report }), options)).verdict).toBe('verified');
    const { quote, options: forTdx } = forgeTdx();
    expect(await verifyToken(tokenOf({ platform_type: 'TDX', raw_report: quote }), forTdx)).toMatchObject({
      verdict: 'verified',
      platform: 'tdx',
      guest: null,
      vmpl: null,
    });
  });

  it.each([
    ['vtpm', jwtOf({ platform_type: 'vTPM', raw_report: Buffer.alloc(9) })],
    ['azure', jwtOf({ 'x-ms-attestation-type': 'azurevm', iss: 'https://attest.azure.net' })],
    ['nocc', coseOf({ platform_type: 'NoCC', raw_report: Buffer.alloc(96) })],
    ['snp-with-gpu', coseOf({ ...claims, 'x-cocos-gpu': new Map([['vendor', 'nvidia']]) })],
    ['snp-with-gpu', jwtOf({ ...claims, submods: { gpu: {} } })],
    ['x-', coseOf({ platform_type: 'X\u0000\n' })],
  ])('calls %s unsupported, by name, which satisfies no policy', async (platform, token) => {
    const verdict = await verifyToken(token, options);
    expect([verdict.verdict, verdict.platform, verdict.measurement, failingChecks(verdict)]).toEqual([
      'unsupported',
      platform,
      null,
      ['platform'],
    ]);
    expect(
      checkPolicy(verdict, { ...strictPolicy, platforms: [platform], measurements: [], allow_debug: true }).every(
        ({ passed }) => passed,
      ),
    ).toBe(false);
  });

  const cose = (...members: unknown[]) => encode(new Tagged(18, members));
  const payload = encode(new Map(Object.entries(claims)));
  it.each<[string, Uint8Array, string]>([
    ['is empty', Buffer.alloc(0), 'token'],
    ['is over 1 MiB', Buffer.alloc(1024 * 1024 + 1), 'token'],
    ['is text', Buffer.from('hello'), 'token'],
    ['is a JWT without JSON', Buffer.from('a.b.c'), 'token'],
    ['is a JWT whose report is no base64', jwtOf({ platform_type: 'SNP', raw_report: '*' }), 'token'],
    ['is no COSE_Sign1', payload, 'token'],
    ['has too few members', cose(Buffer.alloc(0), new Map(), payload), 'token'],
    ['has too many members', cose(Buffer.alloc(0), new Map(), payload, Buffer.alloc(64), 1), 'token'],
    ['is followed by something', Buffer.concat([coseOf(claims), Buffer.of(0)]), 'token'],
    ['is cut off', coseOf(claims).subarray(0, -1), 'token'],
    ['has a member twice', cose(Buffer.alloc(0), new Map(), Buffer.from('a2616101616102', 'hex'), Buffer.alloc(64)), 'token'],
    ['is nested 100,000 deep', Buffer.concat([Buffer.from('d284', 'hex'), Buffer.alloc(100_000, 0x81)]), 'token'],
    ['names no platform', coseOf({ raw_report: message }), 'token'],
    ["names the platform of Microsoft's own token", coseOf({ platform_type: 'AZURE', raw_report: message }), 'token'],
    ['has a report without a quote of its vTPM', coseOf({ ...claims, platform_type: 'SNP-vTPM' }), 'evidence_format'],
    ['has a report of Azure without its runtime data', coseOf({ platform_type: 'Azure', raw_report: report }), 'evidence_format'],
    ['has no report', coseOf({ platform_type: 'SNP' }), 'token'],
    ['has a report that is no bytes', coseOf({ platform_type: 'TDX', raw_report: 'text' }), 'token'],
    ['has a report that is no message', coseOf({ ...claims, raw_report: Buffer.alloc(96, 0xff) }), 'report_format'],
    ['has a message without report', coseOf({ ...claims, raw_report: field(2, Buffer.alloc(0)) }), 'report_format'],
    ['has a message that is cut off', coseOf({ ...claims, raw_report: message.subarray(0, 900) }), 'report_format'],
    [
      'has a report field that is too short',
      coseOf({ ...claims, raw_report: field(1, field(11, Buffer.alloc(63))) }),
      'report_format',
    ],
    ['has a report field that is too large', coseOf({ ...claims, raw_report: field(1, field(21, 256)) }), 'report_format'],
    ['has a field twice', coseOf({ ...claims, raw_report: Buffer.concat([message, field(1, report)]) }), 'report_format'],
    ['calls a TDX quote SNP', coseOf({ ...claims, raw_report: forgeTdx().quote }), 'report_format'],
  ])('refuses a token that %s', async (_, token, name) => {
    const verdict = await verifyToken(token, options);
    expect([verdict.verdict, failingChecks(verdict), verdict.measurement]).toEqual(['refused', [name], null]);
  });
});

describe('check policy', () => {
  const policy: AttestationPolicy = strictPolicy;
  const tcb = { bootloader: 3, tee: 1, snp: 8, microcode: 115 };
  const atLevel = (vmpl: number): SnpChange => ({ report: (bytes) => bytes.writeUInt32LE(vmpl, 0x30) });

  it.each<[string, SnpChange, Partial<AttestationPolicy>, string[]]>([
    ['satisfies', {}, {}, []],
    ['satisfies, with the least versions that it has,', {}, { minimum_tcb: { ...tcb, fmc: null } }, []],
    ...Object.entries(tcb).map(([name, version]): [string, SnpChange, Partial<AttestationPolicy>, string[]] => [
      `does not satisfy, with an older ${name},`,
      {},
      { minimum_tcb: { ...tcb, [name]: version + 1 } },
      ['minimum_tcb'],
    ]),
    ['satisfies, on Turin with the least versions that it has,', { product: 'Turin' }, { minimum_tcb: { ...tcb, fmc: 2 } }, []],
    [
      'satisfies, on Turin where no version of the FMC is demanded,',
      { product: 'Turin' },
      { minimum_tcb: { ...tcb, fmc: null } },
      [],
    ],
    ['does not satisfy, on Turin with an older FMC,', { product: 'Turin' }, { minimum_tcb: { ...tcb, fmc: 3 } }, ['minimum_tcb']],
    [
      'does not satisfy, where a version is demanded that it does not have,',
      {},
      { minimum_tcb: { ...tcb, fmc: 0 } },
      ['minimum_tcb'],
    ],
    ['does not satisfy, with another measurement,', {}, { measurements: ['cd'.repeat(48)] }, ['measurement']],
    ['does not satisfy, on another platform,', {}, { platforms: ['tdx'] }, ['platform']],
    ['does not satisfy, with a report for software at level 1,', atLevel(1), {}, ['vmpl']],
    ['does not satisfy, with a report for software at level 3,', atLevel(3), { vmpl: 2 }, ['vmpl']],
    ['satisfies, with a report for software at the highest level that is allowed,', atLevel(2), { vmpl: 2 }, []],
    ['does not satisfy, with debugging,', debug, {}, ['evidence', 'debug']],
    ['satisfies, with debugging allowed,', debug, { allow_debug: true }, []],
    [
      'does not satisfy, with an altered report,',
      { signed: (bytes) => bytes.fill(1, 0x90, 0xc0) },
      {},
      ['evidence', 'measurement', 'vmpl'],
    ],
    [
      'does not satisfy, if not only debugging fails,',
      { ...debug, leaf: { to: new Date('2020-01-01') } },
      { allow_debug: true },
      ['evidence'],
    ],
  ])('%s its policy', async (_, change, differing, failing) => {
    expect(failingChecks({ checks: checkPolicy(await snpVerdict(change), { ...policy, ...differing }) })).toEqual(failing);
  });

  it('says what the evidence is and what the policy allows', async () => {
    const verdict = await snpVerdict(atLevel(2));
    const other = { ...policy, platforms: ['tdx'], measurements: ['cd'.repeat(48)], minimum_tcb: { ...tcb, snp: 9 } };
    expect(failedChecks([{ kind: 'eat', verdict }], other).map(({ name, detail }) => `${name}: ${detail}`)).toEqual([
      'platform: it is snp, the policy allows tdx',
      `measurement: it is ${'ab'.repeat(48)}, the policy allows ${'cd'.repeat(48)}`,
      'vmpl: it is 2, the policy allows 0',
      'minimum_tcb: snp is 8, the policy demands 9 or more',
    ]);
  });

  /** The verdict on a quote whose platform, module and enclave have the given statuses by Intel's documents. */
  async function tdxVerdict(statuses: { platform?: string; module?: string; enclave?: string }, advisoryIDs?: string[]) {
    const { quote, options: forTdx } = forgeTdx({
      tcbInfo: ({ tcbLevels: [ofPlatform], tdxModuleIdentities: [module] }) => {
        Object.assign(ofPlatform ?? {}, { tcbStatus: statuses.platform ?? 'UpToDate', ...(advisoryIDs && { advisoryIDs }) });
        Object.assign(module?.tcbLevels[0] ?? {}, { tcbStatus: statuses.module ?? 'UpToDate' });
      },
      identity: ({ tcbLevels: [level] }) => void Object.assign(level ?? {}, { tcbStatus: statuses.enclave ?? 'UpToDate' }),
    });
    return verifyTdxQuote(quote, forTdx);
  }
  const forTdx = (measurement: string | null): AttestationPolicy => ({
    ...policy,
    platforms: ['snp', 'tdx'],
    measurements: [measurement ?? ''],
    minimum_tcb: tcb,
  });

  it.each<[Parameters<typeof tdxVerdict>, Partial<AttestationPolicy>, string[]]>([
    [[{}], {}, []],
    [[{}], { accepted_tcb_statuses: ['OutOfDate'] }, ['tcb_status']],
    [[{ platform: 'SWHardeningNeeded' }], {}, ['evidence', 'tcb_status']],
    [[{ platform: 'SWHardeningNeeded' }], { accepted_tcb_statuses: ['SWHardeningNeeded'] }, []],
    [
      [{ platform: 'SWHardeningNeeded', enclave: 'OutOfDate' }],
      { accepted_tcb_statuses: ['SWHardeningNeeded'] },
      ['evidence', 'tcb_status'],
    ],
    [[{ platform: 'SWHardeningNeeded', enclave: 'OutOfDate' }], { accepted_tcb_statuses: ['OutOfDate'] }, []],
    [
      [{ platform: 'ConfigurationNeeded', module: 'OutOfDate' }],
      { accepted_tcb_statuses: ['OutOfDate'] },
      ['evidence', 'tcb_status'],
    ],
    [[{ platform: 'ConfigurationNeeded', module: 'OutOfDate' }], { accepted_tcb_statuses: ['OutOfDateConfigurationNeeded'] }, []],
    [[{ platform: 'OutOfDate', enclave: 'Revoked' }], { accepted_tcb_statuses: ['OutOfDate'] }, ['evidence', 'tcb_status']],
    [[{ platform: 'OutOfDate' }, ['INTEL-SA-00960']], { accepted_tcb_statuses: ['OutOfDate'] }, ['advisories']],
    [[{}, ['INTEL-DOC-10000']], {}, ['advisories']],
    [[{}, ['INTEL-DOC-10000']], { accepted_advisories: ['INTEL-DOC-10000', 'INTEL-SA-00960'] }, []],
  ])('judges a TDX machine by its statuses and advisories %j under %j', async (of, differing, failing) => {
    const verdict = await tdxVerdict(...of);
    expect(failingChecks({ checks: checkPolicy(verdict, { ...forTdx(verdict.measurement), ...differing }) })).toEqual(failing);
  });

  it('asks no least versions and no privilege level of TDX', async () => {
    const debugging = forgeTdx({ quote: (bytes) => (bytes[bodyOf(bytes) + 120] = 1) });
    const allowed = await verifyTdxQuote(debugging.quote, debugging.options);
    expect(failingChecks({ checks: checkPolicy(allowed, { ...forTdx(allowed.measurement), allow_debug: true }) })).toEqual([]);
  });

  it('is not satisfied by a verdict without checks', () => {
    const verdict: Verdict = {
      token_hash: '',
      verdict: 'refused',
      platform: 'snp',
      checks: [],
      measurement: 'ab'.repeat(48),
      tcb: null,
      guest: null,
      vmpl: 0,
      pcrs: null,
    };
    expect(failingChecks({ checks: checkPolicy(verdict, { ...policy, allow_debug: true }) })).toEqual(['evidence']);
    expect(checkPolicy(verdict, policy)).toContainEqual({
      name: 'debug',
      passed: false,
      detail: 'nothing proves that the host may not debug the guest, the policy forbids debugging',
    });
  });

  it.each(['verified', 'refused'] as const)('is not satisfied by a verdict %s with a check that failed', async (verdict) => {
    const good = await snpVerdict();
    const checks = good.checks.map((each) => (each.name === 'signature' ? { ...each, passed: false } : each));
    expect(failingChecks({ checks: checkPolicy({ ...good, verdict, checks }, policy) })).toEqual(['evidence']);
  });
});

describe('failed checks of the tokens of a process', () => {
  const policy: AttestationPolicy = strictPolicy;
  const ofAzure = () => verifyToken(jwtOf({ 'x-ms-attestation-type': 'azurevm' }), options);
  const tokens = {
    good: async () => ({ kind: 'eat', verdict: await snpVerdict() }),
    altered: async () => ({ kind: 'eat', verdict: await snpVerdict({ signed: (bytes) => bytes.fill(1, 0x90, 0xc0) }) }),
    debugging: async () => ({ kind: 'eat', verdict: await snpVerdict(debug) }),
    other: async () => ({ kind: 'eat', verdict: await snpVerdict({ report: (bytes) => bytes.fill(0xcd, 0x90, 0xc0) }) }),
    unsupported: async () => ({
      kind: 'eat',
      verdict: await verifyToken(coseOf({ platform_type: 'NoCC', raw_report: Buffer.alloc(96) }), options),
    }),
    azure: async () => ({ kind: 'azure', verdict: await ofAzure() }),
    'azure, called eat': async () => ({ kind: 'eat', verdict: await ofAzure() }),
    'other, called azure': async () => ({ ...(await tokens.other()), kind: 'azure' }),
    'altered, called azure': async () => ({ ...(await tokens.altered()), kind: 'azure' }),
    pending: () => Promise.resolve({ kind: 'eat', verdict: null }),
  };
  const altered = ['signature', 'evidence', 'measurement', 'vmpl'];

  it.each<[(keyof typeof tokens)[], boolean, string[]]>([
    [[], false, ['evidence']],
    [['good'], false, []],
    [['good', 'good', 'good', 'good'], false, []],
    [['good', 'good', 'good', 'good', 'azure'], true, ['tokens']],
    [['unsupported', 'good'], false, ['evidence', 'platform', 'measurement', 'debug']],
    [['other', 'good'], false, ['measurement']],
    [['good', 'other'], true, ['measurement']],
    [['good', 'altered'], false, altered],
    [['altered', 'good'], true, altered],
    [['good', 'debugging'], false, ['evidence', 'debug']],
    [['good', 'debugging'], true, []],
    [['good', 'pending'], false, ['evidence']],
    [['pending'], true, ['evidence']],
    [['debugging', 'altered'], true, altered],
    [['other', 'altered'], false, ['measurement', ...altered]],
    [['azure'], false, ['evidence']],
    [['azure', 'good'], false, []],
    [['good', 'azure, called eat'], false, ['evidence', 'platform', 'measurement', 'debug']],
    [['good', 'other, called azure'], false, ['measurement']],
    [['good', 'altered, called azure'], false, altered],
  ])('of %j, with debugging allowed: %j, are %j', async (names, allow_debug, failing) => {
    const judged = await Promise.all(names.map((name) => tokens[name]()));
    expect(failingChecks({ checks: failedChecks(judged, { ...policy, allow_debug }) })).toEqual(failing);
  });
});

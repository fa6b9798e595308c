import { createHash } from 'node:crypto';
import {
  type AttestationPolicy,
  checkPolicy,
  failedChecks,
  type Verdict,
  verifyTdxQuote,
  verifyToken,
} from 'computation-management-attestation';
import { encode, Tagged } from 'cborg';
import { describe, expect, it } from 'vitest';
import { failingChecks } from './failing-checks.ts';
import { coseOf, field, forgeSnp, jwtOf, messageOf, type SnpChange } from './forge-snp.ts';
import { bodyAt, forgeTdx } from './forge-tdx.ts';

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
    expect((await verifyToken(tokenOf({ ...claims, raw_report: report }), options)).verdict).toBe('verified');
    const { quote, options: forTdx } = forgeTdx();
    expect(await verifyToken(tokenOf({ platform_type: 'TDX', raw_report: quote }), forTdx)).toMatchObject({
      verdict: 'verified',
      platform: 'tdx',
    });
  });

  it.each([
    ['snp-vtpm', coseOf({ ...claims, platform_type: 'SNP-vTPM' })],
    ['vtpm', jwtOf({ platform_type: 'vTPM', raw_report: Buffer.alloc(9) })],
    ['azure', coseOf({ platform_type: 'Azure', raw_report: report })],
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
      checkPolicy(verdict, { platforms: [platform], measurements: [], minimum_tcb: null, allow_debug: true }).every(
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
  const policy: AttestationPolicy = {
    platforms: ['snp'],
    measurements: ['ab'.repeat(48)],
    minimum_tcb: null,
    allow_debug: false,
  };
  const tcb = { bootloader: 3, tee: 1, snp: 8, microcode: 115 };

  it.each<[string, SnpChange, Partial<AttestationPolicy>, string[]]>([
    ['satisfies', {}, {}, []],
    ['satisfies, with the least versions that it has,', {}, { minimum_tcb: tcb }, []],
    ...Object.entries(tcb).map(([name, version]): [string, SnpChange, Partial<AttestationPolicy>, string[]] => [
      `does not satisfy, with an older ${name},`,
      {},
      { minimum_tcb: { ...tcb, [name]: version + 1 } },
      ['minimum_tcb'],
    ]),
    ['does not satisfy, with another measurement,', {}, { measurements: ['cd'.repeat(48)] }, ['measurement']],
    ['does not satisfy, on another platform,', {}, { platforms: ['tdx'] }, ['platform']],
    ['does not satisfy, with debugging,', debug, {}, ['evidence', 'debug']],
    ['satisfies, with debugging allowed,', debug, { allow_debug: true }, []],
    [
      'does not satisfy, with an altered report,',
      { signed: (bytes) => bytes.fill(1, 0x90, 0xc0) },
      {},
      ['evidence', 'measurement'],
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

  it('asks no least versions of TDX, whose status is one of the checks', async () => {
    const { quote, options: forTdx } = forgeTdx();
    const verdict = await verifyTdxQuote(quote, forTdx);
    const forBoth = { ...policy, platforms: ['snp', 'tdx'], measurements: [verdict.measurement ?? ''], minimum_tcb: tcb };
    expect(checkPolicy(verdict, forBoth).every(({ passed }) => passed)).toBe(true);
    const debugging = forgeTdx({ quote: (bytes) => (bytes[bodyAt + 120] = 1) });
    const allowed = await verifyTdxQuote(debugging.quote, debugging.options);
    expect(failingChecks({ checks: checkPolicy(allowed, { ...forBoth, allow_debug: true }) })).toEqual([]);
  });

  it('is not satisfied by a verdict without checks', () => {
    const verdict: Verdict = {
      token_hash: '',
      verdict: 'refused',
      platform: 'snp',
      checks: [],
      measurement: 'ab'.repeat(48),
      tcb: null,
    };
    expect(failingChecks({ checks: checkPolicy(verdict, { ...policy, allow_debug: true }) })).toEqual(['evidence']);
    expect(checkPolicy(verdict, policy)).toContainEqual({
      name: 'debug',
      passed: false,
      detail: 'nothing proves that the host may not debug the guest',
    });
  });
});

describe('failed checks of the tokens of a process', () => {
  const policy: AttestationPolicy = {
    platforms: ['snp'],
    measurements: ['ab'.repeat(48)],
    minimum_tcb: null,
    allow_debug: false,
  };
  const verdicts = {
    good: () => snpVerdict(),
    altered: () => snpVerdict({ signed: (bytes) => bytes.fill(1, 0x90, 0xc0) }),
    debugging: () => snpVerdict(debug),
    other: () => snpVerdict({ report: (bytes) => bytes.fill(0xcd, 0x90, 0xc0) }),
    unsupported: () => verifyToken(coseOf({ platform_type: 'NoCC', raw_report: Buffer.alloc(96) }), options),
  };

  it.each<[(keyof typeof verdicts)[], boolean, string[]]>([
    [[], false, ['evidence']],
    [['good'], false, []],
    [['unsupported', 'good'], false, []],
    [['other', 'good'], false, []],
    [['good', 'altered'], false, ['signature', 'evidence', 'measurement']],
    [['altered', 'good'], true, ['signature', 'evidence', 'measurement']],
    [['good', 'debugging'], false, ['debug', 'evidence', 'debug']],
    [['good', 'debugging'], true, []],
    [['debugging', 'unsupported'], true, []],
    [['debugging', 'altered'], true, ['signature', 'evidence', 'measurement']],
    [['other', 'unsupported'], false, ['measurement']],
    [['unsupported', 'unsupported'], true, ['platform', 'evidence', 'platform', 'measurement']],
  ])('of %j, with debugging allowed: %j, are %j', async (names, allow_debug, failing) => {
    const judged = await Promise.all(names.map((name) => verdicts[name]()));
    expect(failingChecks({ checks: failedChecks(judged, { ...policy, allow_debug }) })).toEqual(failing);
  });
});

import { createHash } from 'node:crypto';
import { byTestRoots } from './by-test-roots.ts';
import { describe, expect, it } from 'vitest';
import { failingChecks } from './failing-checks.ts';
import { bodyOf, forgeTdx, otherKey, type TdxChange } from './forge-tdx.ts';

const { verifyTdxQuote } = byTestRoots;

const early = new Date('2020-01-01');
const set = (at: number, ...bytes: number[]): TdxChange => ({ quote: (quote) => quote.set(bytes, at) });
const body = (at: number, ...bytes: number[]): TdxChange => ({ quote: (quote) => quote.set(bytes, bodyOf(quote) + at) });
const enclave = (at: number, ...bytes: number[]): TdxChange => ({ enclave: (report) => report.set(bytes, at) });
const info = (change: Record<string, unknown>): TdxChange => ({ tcbInfo: (document) => Object.assign(document, change) });
const identity = (change: Record<string, unknown>): TdxChange => ({ identity: (document) => Object.assign(document, change) });
const platformStatus = (tcbStatus: string): TdxChange => ({
  tcbInfo: ({ tcbLevels: [level] }) => Object.assign(level ?? {}, { tcbStatus }),
});
const old = { issueDate: '2026-01-01T00:00:00Z', nextUpdate: '2026-02-01T00:00:00Z' };
const expired = { from: early, to: new Date('2020-02-01') };
const noAuthority = { extensions: [] };

const wrong: [title: string, change: TdxChange, failing: string[]][] = [
  ['is of version 3', set(0, 3), ['report_format']],
  ['has another kind of key', set(2, 3), ['report_format']],
  ['is of SGX', set(4, 0), ['report_format']],
  ['is of a quoting enclave that is not from Intel', set(12, 0), ['report_format']],
  ['has an unknown body', set(48, 1), ['report_format']],
  ['is cut off', { signed: (quote) => quote.subarray(0, -1) }, ['report_format']],
  ['is cut off in its body', { signed: (quote) => quote.subarray(0, 300) }, ['report_format']],
  ['is empty', { signed: () => Buffer.alloc(0) }, ['report_format']],
  ['is followed by something', { signed: (quote) => Buffer.concat([quote, Buffer.of(1)]) }, ['report_format']],
  ['has a certificate that another key signed', { platform: { signer: otherKey } }, ['certificate_chain']],
  ['has a certificate of another name', { platform: { subject: 'Intel SGX TCB Signing' } }, ['certificate_chain']],
  ['has a certificate without the extension of Intel', { platform: noAuthority }, ['certificate_chain']],
  ['has an intermediate that is no authority', { authority: noAuthority }, ['certificate_chain']],
  ['has an intermediate that another key signed', { authority: { signer: otherKey } }, ['certificate_chain']],
  ['has an intermediate of another root', { authority: { issuer: 'Other' } }, ['certificate_chain']],
  ['has a certificate that is not valid any more', { platform: { to: early } }, ['certificate_validity']],
  ['has an intermediate that is not valid any more', { authority: { to: early } }, ['certificate_validity']],
  ['has a root that is not valid any more', { root: { to: early } }, ['certificate_validity', 'collateral']],
  ['has a root that is no authority', { root: noAuthority }, ['certificate_chain']],
  ['has a root of another key', { root: { key: otherKey } }, ['certificate_chain']],
  ['has a quoting enclave for which another platform vouches', { enclaveSigner: otherKey }, ['quoting_enclave']],
  [
    'has a quoting enclave with another key',
    { enclave: (report) => void (report[320] = (report[320] ?? 0) ^ 1) },
    ['quoting_enclave'],
  ],
  ['has a quoting enclave with more in its report data', enclave(383, 1), ['quoting_enclave']],
  ['is signed by another key', { quoteSigner: otherKey }, ['signature']],
  ['is altered', { signed: (quote) => (quote.writeUInt8(1, bodyOf(quote) + 200), quote) }, ['signature']],
  ['has no collateral of its family', { extension: { fmspc: '000000000001' } }, ['collateral']],
  ['has collateral of another PCE', info({ pceId: '0001' }), ['collateral']],
  ['has a TCB info of SGX', info({ id: 'SGX' }), ['collateral']],
  ['has a TCB info of an unknown version', info({ version: 4 }), ['collateral']],
  ['has a TCB info that is not up to date', info(old), ['collateral']],
  ['has a TCB info that is not valid yet', info({ issueDate: '2026-06-02T00:00:00Z' }), ['collateral']],
  ['has a TCB info without dates', info({ nextUpdate: undefined }), ['collateral']],
  ['has a TCB info that is not signed', { collateral: { tcb_info_signature: '00'.repeat(64) } }, ['collateral']],
  ['has an enclave identity that is not signed', { collateral: { qe_identity_signature: '' } }, ['collateral']],
  ['has an enclave identity of SGX', identity({ id: 'QE' }), ['collateral']],
  ['has an enclave identity of an unknown version', identity({ version: 3 }), ['collateral']],
  ['has an enclave identity that is not valid yet', identity({ issueDate: '2026-06-02T00:00:00Z' }), ['collateral']],
  ['has an enclave identity that is not up to date', identity(old), ['collateral']],
  ['has documents that another key signed', { signer: { key: otherKey } }, ['collateral']],
  ['has documents of a signer that Intel did not certify', { signer: { signer: otherKey } }, ['collateral']],
  ['has documents of a signer of another name', { signer: { subject: 'Intel SGX PCK Certificate' } }, ['collateral']],
  ['has documents of a signer that is not valid any more', { signer: { to: early } }, ['collateral']],
  ['has a revoked certificate', { pckCrl: { serials: [9, 3] } }, ['revocation']],
  ['has a revoked intermediate', { rootCrl: { serials: [2] } }, ['revocation']],
  ['has a revoked root', { rootCrl: { serials: [1] } }, ['revocation']],
  ['has a revoked signer of documents', { rootCrl: { serials: [4] } }, ['revocation']],
  ['has an old revocation list', { pckCrl: expired }, ['revocation']],
  ['has an old revocation list of the root', { rootCrl: expired }, ['revocation']],
  ['has a revocation list that another key signed', { pckCrl: { signer: otherKey } }, ['revocation']],
  ['has a revocation list of another issuer', { pckCrl: { issuer: 'Other' } }, ['revocation']],
  ['has a revocation list of the root that another key signed', { rootCrl: { signer: otherKey } }, ['revocation']],
  ['has a revocation list of the root of another issuer', { rootCrl: { issuer: 'Other' } }, ['revocation']],
  ['has a revocation list that is not valid yet', { pckCrl: { from: new Date('2026-06-02') } }, ['revocation']],
  ['has an empty revocation list', { collateral: { pck_crl: '' } }, ['revocation']],
  ['has a revocation list that is garbage', { collateral: { root_ca_crl: '00' } }, ['revocation']],
  ['has a quoting enclave of another signer', enclave(128, 0), ['enclave_identity']],
  ['has a quoting enclave of another product', enclave(256, 1), ['enclave_identity']],
  ['has a quoting enclave with other attributes', enclave(48, 0x13), ['enclave_identity']],
  ['has a quoting enclave with other selections', enclave(16, 1), ['enclave_identity']],
  ['has a quoting enclave that is too old', enclave(258, 3), ['enclave_identity']],
  ['has a TDX module of another signer', body(64, 1), ['module_identity']],
  ['has a TDX module with other attributes', body(112, 1), ['module_identity']],
  ['has a TDX module that Intel does not list', body(1, 7), ['module_identity']],
  ['has a TDX module that is too old', body(0, 3), ['module_identity']],
  ...['SWHardeningNeeded', 'ConfigurationNeeded', 'OutOfDate', 'Revoked'].map((status): [string, TdxChange, string[]] => [
    `is of a platform whose status is ${status}`,
    platformStatus(status),
    ['tcb_status'],
  ]),
  ...[0, 1, 2, 3, 4, 5, 7].map((part): (typeof wrong)[number] => [
    `has an older part ${part} of its processor`,
    { extension: { cpuSvn: Array.from({ length: 16 }, (_, at) => (at === part ? 0 : 9)) } },
    ['tcb_status'],
  ]),
  ['has an older TDX module of a version that no list has', body(0, 4, 0), ['tcb_status']],
  [
    'has certificates of another kind than those of its platform',
    { signed: (quote) => (quote.writeUInt8(4, quote.indexOf('-----BEGIN') - 6), quote) },
    ['report_format'],
  ],
  ['has an older PCE', { extension: { pceSvn: 12 } }, ['tcb_status']],
  ['has an older microcode for TDX', body(2, 1), ['tcb_status']],
  [
    'has a TDX module that is out of date',
    { tcbInfo: ({ tdxModuleIdentities: [module] }) => Object.assign(module?.tcbLevels[0] ?? {}, { tcbStatus: 'OutOfDate' }) },
    ['tcb_status'],
  ],
  [
    'has a quoting enclave that is out of date',
    { identity: ({ tcbLevels: [level] }) => Object.assign(level ?? {}, { tcbStatus: 'OutOfDate' }) },
    ['tcb_status'],
  ],
  ['allows debugging', body(120, 1), ['debug']],
  ['lets the host inject exceptions', body(123, 0), ['attributes']],
  ['has unknown attributes', body(124, 1), ['attributes']],
  ['has a migration service', body(600, 1), ['migration']],
  ['has another report data', body(520, 0), ['report_data']],
];

describe('a TDX quote with a chain and collateral of test keys', () => {
  it.each([4, 5] as const)('is verified in version %i if everything holds, with measurement and versions', async (version) => {
    const { quote, options } = forgeTdx({ version });
    const verdict = await verifyTdxQuote(quote, options);
    const registers = Buffer.concat([Buffer.alloc(48, 0xcd), Buffer.alloc(3 * 48)]);
    expect(verdict).toMatchObject({ verdict: 'verified', platform: 'tdx' });
    expect(verdict.measurement).toBe(createHash('sha384').update(registers).digest('hex'));
    expect(verdict.tcb).toEqual({ status: 'UpToDate', tee_tcb_svn: `050102${'00'.repeat(13)}`, advisories: [] });
    expect(verdict.checks).toHaveLength(15);
    expect(verdict.checks.at(-1)).toMatchObject({ name: 'test_root', detail: expect.stringContaining('proves nothing') });
    const others = forgeTdx({ root: { key: otherKey } }).options.roots ?? [];
    expect((await verifyTdxQuote(quote, { ...options, roots: [...others, ...(options.roots ?? [])] })).verdict).toBe('verified');
  });

  const ofVersion5 = ['has an unknown body', 'has a migration service'];
  const ofBoth = ([4, 5] as const).flatMap((version) =>
    wrong
      .filter(([title]) => version === 5 || !ofVersion5.includes(title))
      .map(([title, change, names]) => [version, title, change, names] as const),
  );
  it.each(ofBoth)('of version %i is refused, with the failing check named, if it %s', async (version, _, change, names) => {
    const { quote, options } = forgeTdx({ version, ...change });
    const verdict = await verifyTdxQuote(quote, options);
    expect([verdict.verdict, failingChecks(verdict)]).toEqual(['refused', names]);
  });

  it('is refused by the root of Intel, and without collateral', async () => {
    const { quote, options } = forgeTdx();
    const { roots: _, ...trusting } = options;
    expect(failingChecks(await verifyTdxQuote(quote, trusting))).toEqual(['certificate_chain']);
    expect(failingChecks(await verifyTdxQuote(quote, { ...options, collateral: [] }))).toEqual(['collateral']);
  });

  it('takes the newest of several collaterals for its family', async () => {
    const { quote, options, collateral } = forgeTdx();
    const older = forgeTdx(info(old)).collateral;
    const other = forgeTdx(info({ fmspc: '000000000001' })).collateral;
    const verdict = await verifyTdxQuote(quote, { ...options, collateral: [older, collateral, other] });
    expect(verdict.verdict).toBe('verified');
  });

  it('leaves out newer collateral that does not hold or has the list of another authority, and says so', async () => {
    const { quote, options, collateral } = forgeTdx();
    const newer = (change: TdxChange) => forgeTdx({ ...info({ issueDate: '2026-05-31T00:00:00Z' }), ...change }).collateral;
    const broken = newer({ collateral: { tcb_info_signature: '00'.repeat(64) } });
    const ofAnother = newer({ pckCrl: { issuer: 'Other', signer: otherKey } });
    const unreadable = { ...collateral, tcb_info: '{' };
    const verdict = await verifyTdxQuote(quote, { ...options, collateral: [unreadable, broken, ofAnother, collateral] });
    expect(verdict.verdict).toBe('verified');
    expect(verdict.checks.find(({ name }) => name === 'collateral')?.detail).toMatch(
      /valid until 20\d\d-.*; left out, though newer: .*not signed by Intel; .*not issued by/,
    );
  });

  it('takes the newer collateral that revokes its platform', async () => {
    const { quote, options, collateral } = forgeTdx();
    const revoking = forgeTdx({ ...info({ issueDate: '2026-05-31T00:00:00Z' }), pckCrl: { serials: [3] } }).collateral;
    const verdict = await verifyTdxQuote(quote, { ...options, collateral: [collateral, revoking] });
    expect(failingChecks(verdict)).toEqual(['revocation']);
  });
});

import { readFileSync } from 'node:fs';
import type { TdxCollateral, Verdict } from 'computation-management-attestation';
import { byTestRoots } from './by-test-roots.ts';
import { describe, expect, it } from 'vitest';
import { nonceOfV2 } from './flip-bytes.ts';
import { failingChecks } from './failing-checks.ts';
import { coseOf, forgeSnp } from './forge-snp.ts';

const { verifySnpReport, verifyTdxQuote, verifyToken } = byTestRoots;

const read = (file: string) => readFileSync(new URL(`vectors/${file}`, import.meta.url));
const collateral = ['tdx', 'tdx-outdated'].map((file) => JSON.parse(read(`${file}.collateral.json`).toString()) as TdxCollateral);

const hexOfV2 = nonceOfV2.toString('hex');

/** Public reports of SNP. Each is bound to the report data that it has, taken as a nonce. vectors/README.md names the sources. */
const snp: [report: string, certificate: string, day: string, failing: string[], measurement: string | null][] = [
  ['snp-milan', 'snp-milan.vcek.der', '2025-06-01', [], 'a1f3930413247bb3'],
  ['snp-milan', 'snp-milan.vcek.der', '2031-01-01', ['certificate_validity'], 'a1f3930413247bb3'],
  ['snp-milan', 'snp-milan.altered-vcek.der', '2025-06-01', ['certificate_chain'], null],
  ['snp-milan', 'snp-milan-debug.vcek.der', '2025-06-01', ['certificate_chip', 'certificate_tcb', 'signature'], null],
  ['snp-milan', 'snp-genoa.vcek.pem', '2025-06-01', ['certificate_chip', 'certificate_tcb', 'signature'], null],
  ['snp-milan', 'snp-milan-vlek.vlek.der', '2025-06-01', ['certificate_chain'], null],
  ['snp-milan-vlek', 'snp-milan-vlek.vlek.der', '2025-06-01', [], '8922ebbdd00ec2c5'],
  ['snp-milan-vlek', 'snp-milan-vlek.vlek.der', '2026-01-01', ['certificate_validity'], '8922ebbdd00ec2c5'],
  ['snp-milan-vlek', 'snp-milan.vcek.der', '2025-06-01', ['certificate_chain'], null],
  ['snp-genoa', 'snp-genoa.vcek.pem', '2025-06-01', [], 'f57dc09a507c6ecd'],
  ['snp-genoa', 'snp-milan.vcek.der', '2025-06-01', ['product', 'certificate_chip', 'certificate_tcb', 'signature'], null],
  ['snp-milan-debug', 'snp-milan-debug.vcek.der', '2025-06-01', ['debug'], 'b07af9620f3b839b'],
  ['snp-milan', 'snp-milan.altered-legacy-vcek.der', '2025-06-01', ['certificate_chain'], null],
  ['snp-azure-v0', 'snp-azure-v0.vcek.pem', '2025-06-01', [], '6a063be9dd79f637'],
  ['snp-azure-v0', 'snp-azure-v2.vcek.der', '2025-06-01', ['certificate_chip', 'signature'], null],
  ['snp-azure-v2', 'snp-azure-v2.vcek.der', '2025-06-01', [], '5b0ce64ad1c1f637'],
  ['snp-azure-hcl', 'snp-azure-hcl.vcek.pem', '2025-06-01', [], '9ac48fcac8a2d88a'],
];
const tdx: [quote: string, day: string, failing: string[]][] = [
  ['tdx', '2025-07-01', []],
  ['tdx', '2025-08-01', ['collateral']],
  ['tdx-outdated', '2026-03-01', ['tcb_status']],
  ['tdx-v4', '2025-07-01', ['collateral', 'attributes']],
  ['tdx-v5', '2026-03-01', []],
  ['tdx-debug', '2025-07-01', ['collateral', 'debug']],
  ['tdx-migration', '2026-03-01', ['tcb_status', 'migration']],
  ['tdx-azure', '2025-07-01', ['collateral', 'attributes']],
  ['tdx-old', '2025-07-01', ['tcb_status']],
  ['tdx-old-too', '2025-07-01', ['tcb_status']],
  ['tdx-unlisted', '2025-07-01', ['collateral']],
  ['tdx-padded', '2025-07-01', ['collateral', 'report_data']],
  ['sgx', '2025-07-01', ['report_format']],
  ['sgx-occlum', '2025-07-01', ['report_format']],
];

/** Public evidence of confidential VMs on Azure: the nonce in hex, null where it has fewer than 32 bytes, and the value of a PCR. */
const azure: [file: string, nonce: string | null, day: string, platform: string, failing: string[], pcr0: string | null][] = [
  ['az-snp-v1', null, '2025-06-01', 'az-snp-vtpm', ['quote_nonce'], 'e15c44796beabf46'],
  ['az-snp-v2', hexOfV2, '2025-06-01', 'az-snp-vtpm', [], '84275b2f4312cd4f'],
  ['az-snp-v2', `${hexOfV2.slice(0, -2)}00`, '2025-06-01', 'az-snp-vtpm', ['report_data', 'quote_nonce'], null],
  ['az-snp-v2', hexOfV2, '2035-06-01', 'az-snp-vtpm', ['certificate_validity'], '84275b2f4312cd4f'],
  ['az-snp-genoa', null, '2025-06-01', 'az-snp-vtpm', ['quote_nonce'], 'afd689d0bb1c5f36'],
  ['az-tdx-v1', null, '2025-07-01', 'az-tdx-vtpm', ['collateral', 'quote_nonce'], null],
];

function expectVerdict(verdict: Verdict, failing: string[]): void {
  expect([verdict.verdict, failingChecks(verdict).sort()]).toEqual([
    failing.length === 0 ? 'verified' : 'refused',
    failing.sort(),
  ]);
  expect(verdict.checks.filter(({ name }) => name === 'test_root')).toEqual([]);
}

describe('public evidence of real machines', () => {
  it.each(snp)('%s with %s on %s fails in %j', async (name, certificate, day, failing, measurement) => {
    const report = read(`${name}.report`);
    const boundTo = { nonce: report.subarray(0x50, 0x90) };
    const verdict = await verifySnpReport(report, { now: new Date(day), boundTo, certificates: [read(certificate)] });
    expectVerdict(verdict, failing);
    expect(verdict.measurement?.slice(0, 16) ?? null).toBe(measurement);
  });

  it.each(tdx)('%s on %s fails in %j', async (name, day, failing) => {
    const whole = read(`${name}.quote`);
    const quote = name === 'tdx-v4' ? whole.subarray(0, whole.indexOf('\nextra bytes')) : whole;
    const body = quote.readUInt16LE(0) === 4 ? 48 : 54;
    const nonce = quote.subarray(body + 520, body + 584);
    const boundTo = nonce.some((byte) => byte !== 0) ? { nonce } : null;
    expectVerdict(await verifyTdxQuote(quote, { now: new Date(day), boundTo, collateral }), failing);
  });

  it.each(azure)('%s with the nonce %s on %s is of %s and fails in %j', async (file, nonce, day, platform, failing, pcr0) => {
    const token = coseOf({ platform_type: 'Azure', raw_report: read(`${file}.json`) });
    const boundTo = nonce === null ? null : { nonce: Buffer.from(nonce, 'hex') };
    const verdict = await verifyToken(token, { now: new Date(day), boundTo, collateral });
    expectVerdict(verdict, failing);
    expect([verdict.platform, verdict.pcrs?.['0']?.slice(0, 16) ?? null]).toEqual([platform, pcr0]);
  });

  it('includes a certificate of a Turin, which ends at a root of AMD', async () => {
    const { report } = forgeSnp({ product: 'Turin' });
    const certificates = [read('snp-turin.vcek.der')];
    const verdict = await verifySnpReport(report, { now: new Date('2026-06-01'), boundTo: null, certificates });
    expectVerdict(verdict, ['certificate_chip', 'certificate_tcb', 'signature', 'report_data']);
  });

  it('is refused if something follows a quote that its signature does not cover', async () => {
    const verdict = await verifyTdxQuote(read('tdx-v4.quote'), { now: new Date('2025-07-01'), boundTo: null });
    expect(failingChecks(verdict)).toEqual(['report_format']);
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { byTestRoots } from './by-test-roots.ts';
import { type Json, jsonOf } from './coco-json.ts';
import { failingChecks as failing } from './failing-checks.ts';
import { certificate, coseOf, forgeSnp } from './forge-snp.ts';
import { forgeTdx } from './forge-tdx.ts';

const { verifyToken } = byTestRoots;

const tokenOf = (platform_type: string, json: unknown) =>
  coseOf({ platform_type, raw_report: Buffer.from(JSON.stringify(json)) });

describe('evidence in the form of the attestation agent of Confidential Containers', () => {
  it.each(['snp-milan', 'snp-milan-vlek', 'snp-azure-v2'])('has the bytes that the machine of %s signed', async (name) => {
    const read = (file: string) => readFileSync(new URL(`vectors/${file}`, import.meta.url));
    const report = read(`${name}.report`);
    const leaf = read(name === 'snp-milan-vlek' ? `${name}.vlek.der` : `${name}.vcek.der`);
    const options = { now: new Date('2025-06-01'), boundTo: { nonce: report.subarray(0x50, 0x90) } };
    const verdict = await verifyToken(tokenOf('SNP', jsonOf(report, [leaf])), options);
    expect([verdict.verdict, failing(verdict)]).toEqual(['verified', []]);
  });

  it.each(['Milan', 'Turin'] as const)('is verified on %s, and refused with another member', async (product) => {
    const { report, certificates, options } = forgeSnp({ product });
    const json = jsonOf(report, certificates);
    const failingWith = async (changed: Json) => {
      const attestation_report = { ...json.attestation_report, ...changed };
      return failing(
        await verifyToken(tokenOf('SNP', { ...json, attestation_report }), { ...options, certificates: certificates.slice(1) }),
      );
    };
    expect(await failingWith({})).toEqual([]);
    expect(await failingWith({ guest_svn: 1 })).toEqual(['signature']);
    for (const wrong of [
      { more: 1 },
      { report_data: [1] },
      { report_data: 'text' },
      { policy: -1 },
      { policy: 2 ** 60 },
      { cpuid_step: 256 },
      { chip_id: Array(64).fill(256) },
    ]) {
      expect(await failingWith(wrong)).toEqual(['report_format']);
    }
  });

  it('of TDX has the quote in base64', async () => {
    const { quote, options } = forgeTdx();
    const given = { ...options, boundTo: { certificate } };
    const wellFormed = await verifyToken(tokenOf('TDX', { quote: quote.toString('base64'), cc_eventlog: null }), given);
    expect([wellFormed.verdict, wellFormed.platform]).toEqual(['verified', 'tdx']);
    expect(failing(await verifyToken(tokenOf('TDX', { quote: '*' }), given))).toEqual(['report_format']);
    expect(failing(await verifyToken(tokenOf('TDX', {}), given))).toEqual(['report_format']);
  });
});

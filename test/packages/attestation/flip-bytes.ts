import { readFileSync } from 'node:fs';
import type { TdxCollateral, Verdict } from 'computation-management-attestation';
import { byTestRoots, type OptionsOfTest } from './by-test-roots.ts';
import { forgeSnp } from './forge-snp.ts';
import { forgeTdx } from './forge-tdx.ts';

const { verifySnpReport, verifyTdxQuote } = byTestRoots;

/** Evidence that is verified, and which of its bytes are signed or are used as a signature. */
interface Genuine {
  name: string;
  evidence: Buffer;
  verify: (evidence: Uint8Array) => Promise<Verdict>;
  bytes: number[];
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);
/** The bytes of a report that AMD signs, and the 48 used bytes of both numbers of the signature. */
const snpBytes = [...range(0, 0x2a0 + 48), ...range(0x2a0 + 72, 0x2a0 + 72 + 48)];
/** A quote up to its certificates: header, body, signature, key, and the quoting enclave's report with its signature. */
const tdxBytes = (quote: Buffer) => range(0, quote.indexOf('-----BEGIN'));
const read = (file: string) => readFileSync(new URL(`vectors/${file}`, import.meta.url));

/** Real evidence and evidence of test keys, both of SNP and TDX. */
export function genuineEvidence(): Genuine[] {
  const snp = (name: string, evidence: Buffer, options: OptionsOfTest): Genuine => {
    return { name, evidence, verify: (bytes) => verifySnpReport(bytes, options), bytes: snpBytes };
  };
  const tdx = (name: string, evidence: Buffer, options: OptionsOfTest): Genuine => {
    return { name, evidence, verify: (bytes) => verifyTdxQuote(bytes, options), bytes: tdxBytes(evidence) };
  };
  const [report, quote, forgedSnp, forgedTdx] = [read('snp-milan.report'), read('tdx.quote'), forgeSnp(), forgeTdx()];
  const ofReport = { boundTo: { nonce: report.subarray(0x50, 0x90) }, certificates: [read('snp-milan.vcek.der')] };
  const ofQuote = {
    boundTo: { nonce: quote.subarray(48 + 520, 48 + 584) },
    collateral: [JSON.parse(read('tdx.collateral.json').toString()) as TdxCollateral],
  };
  return [
    snp('a real SNP report', report, { now: new Date('2025-06-01'), ...ofReport }),
    snp('an SNP report of test keys', forgedSnp.report, forgedSnp.options),
    tdx('a real TDX quote', quote, { now: new Date('2025-07-01'), ...ofQuote }),
    tdx('a TDX quote of test keys', forgedTdx.quote, forgedTdx.options),
  ];
}

/** Flips one bit of each of some bytes, one at a time, and returns where the verdict was `verified` all the same. */
export async function verifiedAfterFlip(
  { evidence, verify }: Genuine,
  flips: Iterable<[at: number, bit: number]>,
): Promise<string[]> {
  const verified: string[] = [];
  for (const [at, bit] of flips) {
    const flipped = Buffer.from(evidence);
    flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << bit), at);
    if ((await verify(flipped)).verdict === 'verified') verified.push(`byte ${at}, bit ${bit}`);
  }
  return verified;
}

import { readFileSync } from 'node:fs';
import type { TdxCollateral, Verdict } from 'computation-management-attestation';
import { byTestRoots, type OptionsOfTest } from './by-test-roots.ts';
import { coseOf, forgeSnp } from './forge-snp.ts';
import { forgeTdx } from './forge-tdx.ts';
import { forgeSnpVtpm } from './forge-vtpm.ts';

const { verifySnpReport, verifyTdxQuote, verifyToken } = byTestRoots;

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

/** The nonce of the evidence `az-snp-v2`, which the tests of its repository name. */
export const nonceOfV2 = Buffer.from(
  '982f5c6e45df0ed3f10b6f60b02f0c8390e281300f3805e2279c16168cd6ae9aa398f647caa2338748cd0fd9f5f819ef',
  'hex',
);

/** Real evidence of SNP on Azure, as its signed parts one after the other: report and runtime data, quote, signature, PCRs. */
function ofAzure(): Genuine {
  const json = JSON.parse(read('az-snp-v2.json').toString()) as {
    hcl_report: string;
    tpm_quote: { message: string; signature: string; pcrs: string[] };
  };
  const { message, signature, pcrs } = json.tpm_quote;
  const paravisor = Buffer.from(json.hcl_report, 'base64url');
  const [reportAt, runtimeAt] = [32, 32 + 0x4a0 + 20];
  const runtimeEnd = runtimeAt + paravisor.readUInt32LE(runtimeAt - 4);
  const parts = [paravisor, ...[message, signature, ...pcrs].map((each) => Buffer.from(each, 'hex'))];
  const verify = (bytes: Uint8Array) => {
    let at = 0;
    const [report, quote, by, ...values] = parts.map(({ length }) => Buffer.from(bytes.subarray(at, (at += length))));
    const hex = (each?: Buffer) => each?.toString('hex');
    const tpm_quote = { message: hex(quote), signature: hex(by), pcrs: values.map(hex) };
    const raw_report = Buffer.from(JSON.stringify({ ...json, hcl_report: report?.toString('base64url'), tpm_quote }));
    return verifyToken(coseOf({ platform_type: 'Azure', raw_report }), {
      now: new Date('2025-06-01'),
      boundTo: { nonce: nonceOfV2 },
    });
  };
  const evidence = Buffer.concat(parts);
  const signed = [
    ...snpBytes.map((byte) => reportAt + byte),
    ...range(runtimeAt, runtimeEnd),
    ...range(paravisor.length, evidence.length),
  ];
  return { name: 'real evidence of SNP on Azure', evidence, verify, bytes: signed };
}

/** Evidence of SNP with a vTPM by test keys, of whose bytes those up to the certificates count. */
function ofVtpm(): Genuine {
  const { evidence, options, leaf } = forgeSnpVtpm({ bare: true });
  const verify = (bytes: Uint8Array) => verifyToken(coseOf({ platform_type: 'SNP-vTPM', raw_report: bytes }), options);
  return { name: 'evidence of SNP with a vTPM by test keys', evidence, verify, bytes: range(0, evidence.indexOf(leaf) - 6) };
}

/** Real evidence and evidence of test keys, of every platform. */
export function genuineEvidence(): Genuine[] {
  const snp = (name: string, evidence: Buffer, options: OptionsOfTest): Genuine => {
    return { name, evidence, verify: (bytes) => verifySnpReport(bytes, options), bytes: snpBytes };
  };
  const tdx = (name: string, evidence: Buffer, options: OptionsOfTest): Genuine => {
    return { name, evidence, verify: (bytes) => verifyTdxQuote(bytes, options), bytes: tdxBytes(evidence) };
  };
  const turin = forgeSnp({ product: 'Turin' });
  const [report, quote, forgedSnp, forgedTdx] = [read('snp-milan.report'), read('tdx.quote'), forgeSnp(), forgeTdx()];
  const ofReport = { boundTo: { nonce: report.subarray(0x50, 0x90) }, certificates: [read('snp-milan.vcek.der')] };
  const ofQuote = {
    boundTo: { nonce: quote.subarray(48 + 520, 48 + 584) },
    collateral: [JSON.parse(read('tdx.collateral.json').toString()) as TdxCollateral],
  };
  return [
    snp('a real SNP report', report, { now: new Date('2025-06-01'), ...ofReport }),
    snp('an SNP report of test keys', forgedSnp.report, forgedSnp.options),
    snp('an SNP report of Turin by test keys', turin.report, turin.options),
    ofVtpm(),
    ofAzure(),
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

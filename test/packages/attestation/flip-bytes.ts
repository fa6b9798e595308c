import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { TdxCollateral, Verdict } from 'computation-management-attestation';
import { byTestRoots, type OptionsOfTest } from './by-test-roots.ts';
import { jsonOf } from './coco-json.ts';
import { pem } from './forge-certificates.ts';
import { coseOf, forgeSnp } from './forge-snp.ts';
import { forgeTdx } from './forge-tdx.ts';
import { forgeAzure, forgeSnpVtpm } from './forge-vtpm.ts';

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

/** Makes evidence of parts, of which every byte counts but those that `isUsed` says no to, by the number of the part and the place in it. */
function ofParts(
  name: string,
  parts: readonly Buffer[],
  verify: (parts: Buffer[]) => Promise<Verdict>,
  isUsed: (part: number, at: number) => boolean = () => true,
): Genuine {
  const split = (bytes: Uint8Array) => {
    let at = 0;
    return parts.map(({ length }) => Buffer.from(bytes.subarray(at, (at += length))));
  };
  const used = parts.flatMap(({ length }, part) => range(0, length).map((at) => isUsed(part, at)));
  const bytes = used.flatMap((is, at) => (is ? [at] : []));
  return { name, evidence: Buffer.concat(parts), verify: (flipped) => verify(split(flipped)), bytes };
}

type AzureJson = Record<string, string> & { tpm_quote: { message: string; signature: string; pcrs: string[] } };

/** Evidence of Azure, as its signed parts: report or runtime data of the paravisor, quote of TDX, quote of the TPM, signature, PCRs. */
function ofAzure(name: string, evidence: Buffer, options: OptionsOfTest): Genuine {
  const json = JSON.parse(evidence.toString()) as AzureJson;
  const { message, signature, pcrs } = json.tpm_quote;
  const paravisor = Buffer.from(json['hcl_report'] ?? '', 'base64url');
  const quoteOfTdx = Buffer.from(json['td_quote'] ?? '', 'base64url');
  const isTdx = quoteOfTdx.length > 0;
  const [reportAt, runtimeAt] = [32, 32 + 0x4a0 + 20];
  const runtimeEnd = runtimeAt + paravisor.readUInt32LE(runtimeAt - 4);
  const ofParavisor = new Set([
    ...(isTdx ? [] : snpBytes.map((byte) => reportAt + byte)), // beside a quote of TDX, the report is not read
    ...range(runtimeAt, runtimeEnd),
  ]);
  const ofTdx = new Set(isTdx ? tdxBytes(quoteOfTdx) : []);
  const parts = [paravisor, quoteOfTdx, ...[message, signature, ...pcrs].map((each) => Buffer.from(each, 'hex'))];
  const verify = ([report, ofHardware, quote, by, ...values]: Buffer[]) => {
    const hex = (each?: Buffer) => each?.toString('hex');
    const tpm_quote = { message: hex(quote), signature: hex(by), pcrs: values.map(hex) };
    const td_quote = isTdx ? { td_quote: ofHardware?.toString('base64url') } : {};
    const changed = { ...json, hcl_report: report?.toString('base64url'), ...td_quote, tpm_quote };
    return verifyToken(coseOf({ platform_type: 'Azure', raw_report: Buffer.from(JSON.stringify(changed)) }), options);
  };
  return ofParts(name, parts, verify, (part, at) => (part === 0 ? ofParavisor.has(at) : part > 1 || ofTdx.has(at)));
}

/** Evidence of SNP as the attestation agent of Confidential Containers sends it: every byte of the JSON counts but the name `fmc` of null. */
function ofCoco(): Genuine {
  const { report, certificates, options } = forgeSnp();
  const json = Buffer.from(JSON.stringify(jsonOf(report, certificates.slice(0, 1))));
  const verify = (bytes: Uint8Array) =>
    verifyToken(coseOf({ platform_type: 'SNP', raw_report: bytes }), { ...options, certificates: certificates.slice(1) });
  const unused = new Set([...json.toString('latin1').matchAll(/fmc":null/g)].flatMap(({ index }) => range(index, index + 3)));
  const bytes = range(0, json.length).filter((at) => !unused.has(at));
  return { name: 'an SNP report of test keys in JSON', evidence: json, verify, bytes };
}

/** The certificates that a report or a quote of test keys needs, below the root. */
function ofCertificates(): Genuine[] {
  const chain = ({ report, certificates, options }: ReturnType<typeof forgeSnp>) =>
    [certificates.slice(0, 2), (given: Buffer[]) => verifySnpReport(report, { ...options, certificates: given })] as const;
  const { quote, options } = forgeTdx();
  const [leaf = '', authority = '', root = ''] =
    quote.toString('latin1').match(/-----BEGIN[^-]*-----[^-]*-----END[^-]*-----\n/g) ?? [];
  const inQuote = (given: Buffer[]) => {
    const before = quote.subarray(0, quote.indexOf('-----BEGIN'));
    return verifyTdxQuote(Buffer.concat([before, Buffer.from(given.map(pem).join('') + root)]), options);
  };
  return [
    ofParts('the certificates of an SNP report of test keys', ...chain(forgeSnp())),
    ofParts('the certificates of an SNP report of Turin with a VLEK', ...chain(forgeSnp({ product: 'Turin', vlek: true }))),
    ofParts('the certificates of a TDX quote of test keys', [derOf(leaf), derOf(authority)], inQuote),
  ];
}

const derOf = (chain: string) => new X509Certificate(chain).raw;

/** The collateral of a quote: the text of documents, signatures, revocation lists, and the certificates that signed the documents. */
function ofCollateral(name: string, quote: Buffer, { collateral: [collateral] = [], ...options }: OptionsOfTest): Genuine {
  if (collateral === undefined) throw new Error('There is no collateral.');
  const hex = ['tcb_info_signature', 'qe_identity_signature', 'root_ca_crl', 'pck_crl'] as const;
  const texts = ['tcb_info', 'qe_identity'] as const;
  const chains = ['tcb_info_issuer_chain', 'qe_identity_issuer_chain'] as const;
  const names = [...hex, ...texts, ...chains];
  const parts = [
    ...hex.map((each) => Buffer.from(collateral[each], 'hex')),
    ...texts.map((each) => Buffer.from(collateral[each])),
    ...chains.map((each) => derOf(collateral[each])),
  ];
  const verify = (changed: Buffer[]) => {
    const written = changed.map((part, at) => (at < 4 ? part.toString('hex') : at < 6 ? part.toString() : pem(part)));
    const entries = names.map((each, at) => [each, written[at] ?? '']);
    return verifyTdxQuote(quote, { ...options, collateral: [Object.fromEntries(entries)] });
  };
  return ofParts(name, parts, verify);
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
  const real = (name: string, of: string) => {
    const bytes = read(`${name}.report`);
    const options = { now: new Date('2025-06-01'), boundTo: { nonce: bytes.subarray(0x50, 0x90) } };
    return snp(`a real SNP report: ${name}`, bytes, { ...options, certificates: [read(of)] });
  };
  const [genoa, vlek, azureTdx] = [forgeSnp({ product: 'Genoa' }), forgeSnp({ vlek: true }), forgeAzure({ tdx: {} })];
  const ofV2 = { now: new Date('2025-06-01'), boundTo: { nonce: nonceOfV2 } };
  const inJuly = { now: new Date('2025-07-01'), ...ofQuote };
  return [
    snp('a real SNP report', report, { now: new Date('2025-06-01'), ...ofReport }),
    real('snp-genoa', 'snp-genoa.vcek.pem'),
    real('snp-milan-vlek', 'snp-milan-vlek.vlek.der'),
    snp('an SNP report of Genoa by test keys', genoa.report, genoa.options),
    snp('an SNP report with a VLEK by test keys', vlek.report, vlek.options),
    snp('an SNP report of test keys', forgedSnp.report, forgedSnp.options),
    snp('an SNP report of Turin by test keys', turin.report, turin.options),
    ofVtpm(),
    ofCoco(),
    ofAzure('real evidence of SNP on Azure', read('az-snp-v2.json'), ofV2),
    ofAzure('evidence of TDX on Azure by test keys', azureTdx.evidence, azureTdx.options),
    ...ofCertificates(),
    ofCollateral('the collateral of a real TDX quote', quote, inJuly),
    ofCollateral('the collateral of a TDX quote of test keys', forgedTdx.quote, forgedTdx.options),
    tdx('a real TDX quote', quote, inJuly),
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

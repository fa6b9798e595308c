import { sha3_512 } from '@noble/hashes/sha3.js';
import { type AzureEvidence, parseAzureEvidence } from './azure-report.ts';
import { type Bytes, concatenate, demand, isEqual, sha, toHex } from './evidence-bytes.ts';
import {
  boundValues,
  checkReportData,
  nothingToCompare,
  type TestRoots,
  type VerifyOptions,
  Checks,
  type Unhashed,
  unproven,
} from './verdict.ts';
import { parseVtpmMessage, type SnpTcb } from './snp-report.ts';
import { checkPcrs, checkQuote, nonceOfQuote, parseQuotingKey, parseTpmSignature, type RsaKey, type SignedQuote } from './tpm.ts';
import { verifySnp } from './verify-snp.ts';
import type { TdxTcb } from './verify-tdx.ts';

/** The checks that follow those of the hardware's report, which names the key of the quote. Each is a link of one chain. */
const links = ['attestation_key', 'quote', 'quote_nonce', 'pcrs'] as const;

/**
 * Verifies the evidence of an SNP guest with a vTPM, the message `attest.Attestation` of google/go-tpm-tools: the report of SNP, whose report
 * data is of the key of the quote, then the quote and its PCRs. Whose TPM it is, only the measured image says: an image that takes a TPM from
 * the host shows what the host likes.
 */
export async function verifySnpVtpm(evidence: Bytes, options: VerifyOptions, roots: TestRoots): Promise<Unhashed<SnpTcb>> {
  const platform = 'snp-vtpm';
  const format = new Checks(['evidence_format']);
  const said = 'it is a report of SNP with a quote of a TPM';
  const parsed = await format.produce('evidence_format', () => [parseVtpmMessage(evidence), said]);
  if (parsed === undefined) return { ...format.conclude(), platform, ...unproven };
  const checkData = async (data: Bytes) => {
    const { reportData, what } = await boundValues(options.boundTo);
    const expected = sha3_512(concatenate(reportData, parsed.key));
    demand(isEqual(data, expected), `it is ${toHex(data)}, not that of ${what} and the key of the quote, ${toHex(expected)}`);
    return `it is that of ${what} and the key of the quote`;
  };
  const hardware = await verifySnp(parsed.report, parsed.certificates, options, roots, checkData);
  const read = () => ({ message: parsed.quote, signature: parseTpmSignature(parsed.signature), pcrs: parsed.pcrs });
  const key = () => parseQuotingKey(parsed.key);
  return withQuote(hardware, platform, { key, quote: read, canBeNamed: options.boundTo !== null }, options);
}

/**
 * Verifies the evidence of a confidential VM on Azure: the report of SNP or the quote of TDX, whose report data is the hash of the paravisor's
 * runtime data, then the quote by the key in these, and its PCRs. The nonce is in the quote.
 *
 * Of TDX, the attribute SEPT_VE_DISABLE is not asked for: Azure launches its machines without it. It is the first state of a control
 * (PENDING_VE_DISABLE of TD_CTLS) that the measured paravisor can set itself.
 */
export async function verifyAzure(evidence: Bytes, options: VerifyOptions, roots: TestRoots): Promise<Unhashed<SnpTcb | TdxTcb>> {
  const format = new Checks(['evidence_format']);
  const parsed = await format.produce('evidence_format', () => {
    const read = parseAzureEvidence(evidence);
    return [read, `it is evidence of ${read.hardware.platform}`];
  });
  const isQuote = evidence[0] === 4 && evidence[1] === 0; // the version of a quote of TDX
  if (parsed === undefined) return { ...format.conclude(), platform: isQuote ? 'az-tdx-vtpm' : 'az-snp-vtpm', ...unproven };
  const { hardware, key, quote } = parsed;
  const checkData = (data: Bytes) => checkRuntimeData(data, parsed, options);
  const verdict = await (hardware.platform === 'az-snp-vtpm'
    ? verifySnp(hardware.evidence, hardware.certificates, options, roots, checkData)
    : (await import('./verify-tdx.ts')).verifyTdx(hardware.evidence, options, roots, checkData, 0n));
  const given = { key: () => key, quote: () => quote, canBeNamed: true };
  return withQuote<SnpTcb | TdxTcb>(verdict, hardware.platform, given, options);
}

async function checkRuntimeData(data: Bytes, evidence: AzureEvidence, { boundTo }: VerifyOptions): Promise<string> {
  const { runtimeData, userData } = evidence;
  const expected = concatenate(await sha(256, runtimeData), new Uint8Array(32));
  demand(isEqual(data, expected), `it is ${toHex(data)}, not that of the runtime data, ${toHex(expected)}`);
  if (userData !== undefined) await checkReportData(userData, boundTo);
  return 'it is the hash of the runtime data';
}

/**
 * Adds to the verdict on a hardware's report those on the quote of the TPM whose key the report names. Hardware that is not supported keeps the name
 * of its platform.
 * @param given.canBeNamed false if nobody can tell whether the report names the key: then the quote is checked, and proves no PCRs
 */
async function withQuote<Tcb>(
  hardware: Unhashed<Tcb>,
  platform: string,
  given: { key: () => RsaKey; quote: () => SignedQuote; canBeNamed: boolean },
  { boundTo }: VerifyOptions,
): Promise<Unhashed<Tcb>> {
  const checks = new Checks(links);
  let key: RsaKey | undefined;
  await checks.run('attestation_key', () => {
    key = given.key();
    demand(given.canBeNamed, nothingToCompare);
    return 'it signs quotes of its TPM alone';
  });
  const signer = key;
  if (signer !== undefined) {
    let quote: SignedQuote | undefined;
    await checks.run('quote', () => checkQuote((quote = given.quote()), signer));
    const present = quote;
    if (present !== undefined) {
      await checks.run('quote_nonce', () => checkQuoteNonce(nonceOfQuote(present), boundTo));
      await checks.run('pcrs', () => checkPcrs(present));
      const isLinked =
        hardware.measurement !== null && hardware.checks.some(({ name, passed }) => name === 'report_data' && passed);
      if (isLinked && checks.passed('attestation_key', 'quote', 'pcrs')) hardware = { ...hardware, pcrs: hexOf(present) };
    }
  }
  const ofQuote = checks.conclude();
  const both = hardware.verdict === 'verified' ? ofQuote.verdict : hardware.verdict;
  const named = hardware.verdict === 'unsupported' ? hardware.platform : platform;
  return { ...hardware, platform: named, verdict: both, checks: [...hardware.checks, ...ofQuote.checks] };
}

const hexOf = ({ pcrs }: SignedQuote) => Object.fromEntries([...pcrs].map(([number, value]) => [String(number), toHex(value)]));

/** Checks that the nonce of a quote, of 32 bytes or more, is that of a certificate, or the beginning of a nonce. */
async function checkQuoteNonce(nonce: Bytes, boundTo: VerifyOptions['boundTo']): Promise<string> {
  const { quoteNonce, what } = await boundValues(boundTo);
  demand(nonce.length >= 32, `it has ${nonce.length} bytes, not 32 or more`);
  const expected = quoteNonce.slice(0, Math.min(nonce.length, quoteNonce.length));
  demand(isEqual(nonce, expected), `it is ${toHex(nonce)}, not that of ${what}, ${toHex(expected)}`);
  return `it is that of ${what}`;
}

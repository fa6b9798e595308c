import { asObject, base64Member, isJson, jsonObject } from './token.ts';
import { type Bytes, bytesOfHex, demand, littleEndian, slice } from './evidence-bytes.ts';
import { reportSize } from './snp-report.ts';
import type { RsaKey, SignedQuote } from './tpm.ts';

/** The evidence of a confidential VM on Azure, as the attestation agent of Confidential Containers sends it: JSON of these members. */
export type AzureEvidence = ReturnType<typeof parseAzureEvidence>;

// The report of the paravisor (HCL) is that of Microsoft's "Guest attestation for confidential VMs": a header of 32 bytes, the report of the
// hardware, then the runtime data behind a header of 20 bytes. Numbers are little-endian.
const headerSize = 32;
const runtimeAt = headerSize + reportSize;
const runtimeHeaderSize = 20;
const sha256 = 1;
const reportTypes = { 'az-snp-vtpm': 2, 'az-tdx-vtpm': 4 } as const;

/**
 * Reads the evidence of a confidential VM on Azure, versions 1 and 2. The agent of Cocos sends a report and a quote without runtime data.
 * @throws Refusal if it is malformed or lacks the runtime data
 */
export function parseAzureEvidence(bytes: Bytes) {
  demand(isJson(bytes), 'it has no runtime data of the paravisor, so nothing links its report to the key of its quote');
  const evidence = jsonObject(bytes, 'it');
  const { version } = evidence;
  demand(version === 1 || version === 2, 'its version is neither 1 nor 2');
  const platform = 'td_quote' in evidence ? 'az-tdx-vtpm' : 'az-snp-vtpm';
  const paravisor = base64Member(evidence, 'hcl_report');
  demand(littleEndian(paravisor, 0, 4) === 0x414c4348, 'its hcl_report does not begin with HCLA');
  demand(littleEndian(paravisor, runtimeAt + 8, 4) === reportTypes[platform], `its hcl_report is not of ${platform}`);
  demand(littleEndian(paravisor, runtimeAt + 12, 4) === sha256, 'its runtime data is not hashed by SHA-256');
  const runtimeData = slice(paravisor, runtimeAt + runtimeHeaderSize, littleEndian(paravisor, runtimeAt + 16, 4));
  const runtime = jsonObject(runtimeData, 'its runtime data');
  const isSnp = platform === 'az-snp-vtpm';
  return {
    /** The report of SNP, or the quote of TDX. */
    hardware: {
      platform,
      evidence: isSnp ? slice(paravisor, headerSize, reportSize) : base64Member(evidence, 'td_quote'),
      certificates: isSnp ? [base64Member(evidence, 'vcek')] : [],
    },
    /** The JSON in which the paravisor describes the VM and names the key of the quote. The report data of the hardware is its SHA-256. */
    runtimeData,
    key: quotingKey(runtime['keys']),
    /** The data that the VM gave the paravisor for its report, 64 bytes. Undefined before version 2, which does not fill it. */
    userData: version === 2 ? bytesOfHex(runtime['user-data'], 'the user-data of its runtime data') : undefined,
    quote: parseTpmQuote(asObject(evidence['tpm_quote'], 'its tpm_quote')),
  };
}

function parseTpmQuote({ message, signature, pcrs }: Record<string, unknown>): SignedQuote {
  demand(Array.isArray(pcrs), 'its tpm_quote has no PCRs');
  const values = pcrs.map((value, number) => [number, bytesOfHex(value, `PCR ${number}`)] as const);
  const [signed, by] = [bytesOfHex(message, 'the message of its quote'), bytesOfHex(signature, 'the signature of its quote')];
  return { message: signed, signature: by, pcrs: new Map(values) };
}

/** Returns the key that the paravisor calls HCLAkPub: it keeps the private key, and signs quotes alone with it. */
function quotingKey(keys: unknown): RsaKey {
  const isQuoting = (key: unknown) => asObject(key, 'a key of its runtime data')['kid'] === 'HCLAkPub';
  const found = (Array.isArray(keys) ? keys : []).filter(isQuoting);
  const { kty, n, e } = found.length === 1 ? asObject(found[0], 'the key') : {};
  const isRsa = kty === 'RSA' && typeof n === 'string' && n.length >= 342 && e === 'AQAB';
  demand(isRsa, 'its runtime data has not one HCLAkPub of RSA');
  return { n, e };
}

import { type Bytes, quote, sha, toHex } from './evidence-bytes.ts';
import { type TestRoots, type VerifyOptions, Checks, type Unhashed, unproven, type Verdict } from './verdict.ts';
import { isJson, parseSnpJson, isSupported, parseToken, type SupportedPlatform } from './token.ts';
import { parseSnpMessage, parseVtpmMessage, reportSize, type SnpTcb } from './snp-report.ts';
import type { WholeCollateral } from './tdx-collateral.ts';
import type { TdxTcb } from './verify-tdx.ts';
import { verifySnp } from './verify-snp.ts';

/** Returns the functions that verify evidence up to given roots. Undefined: those of AMD and Intel. */
export const verifiersUpTo = (roots: TestRoots) => ({
  /**
   * Verifies an attestation token of an agent, in COSE or as a JWT: the evidence of SNP or TDX in the token. Does not throw for bad
   * evidence, but returns the verdict `refused` or `unsupported`.
   */
  verifyToken: (token: Uint8Array, options: VerifyOptions) =>
    hashed(new Uint8Array(token), (bytes) => verifyEvidenceIn(bytes, options, roots)),
  /** Verifies an SNP attestation report of 1,184 bytes. The certificates for it are in the options, as a report has none. */
  verifySnpReport: (report: Uint8Array, options: VerifyOptions) =>
    hashed(new Uint8Array(report), (bytes) => verifySnp(bytes, [], options, roots)),
  /** Verifies a TDX quote of version 4 or 5. Intel's documents for it are in the options. */
  verifyTdxQuote: (quote: Uint8Array, options: VerifyOptions) =>
    hashed(new Uint8Array(quote), (bytes) => verifyTdx(bytes, options, roots)),
});

export const { verifyToken, verifySnpReport, verifyTdxQuote } = verifiersUpTo(undefined);

/** Verifies Intel's collateral of a family of machines as `verifyCollateral` in verify-tdx.ts does, which is loaded for it. */
export const verifyCollateral = async (collateral: WholeCollateral, now: Date) =>
  (await import('./verify-tdx.ts')).verifyCollateral(collateral, now);

/** Returns the certificates for SNP that come with the evidence in an attestation token, unverified. None if it cannot be read. */
export function certificatesIn(token: Uint8Array): Uint8Array[] {
  try {
    const { platform, report } = parseToken(new Uint8Array(token));
    if (platform === 'SNP-vTPM') return parseVtpmMessage(report).certificates;
    if (platform !== 'SNP' || report.length === reportSize) return [];
    return (isJson(report) ? parseSnpJson(report) : parseSnpMessage(report)).certificates;
  } catch {
    return [];
  }
}

async function verifyEvidenceIn(token: Bytes, options: VerifyOptions, roots: TestRoots): Promise<Unhashed<SnpTcb | TdxTcb>> {
  const checks = new Checks(['token']);
  const parsed = await checks.produce('token', () => {
    const { platform, report } = parseToken(token);
    return [{ platform, report }, `it is a token of the platform ${quote(platform)}`];
  });
  if (parsed === undefined) return { ...checks.conclude(), platform: 'unknown', ...unproven };
  const { platform, report } = parsed;
  if (!isSupported(platform)) {
    const detail = `evidence of the platform ${quote(platform)} is not supported`;
    const all = [...checks.list, { name: 'platform', passed: false, detail }];
    return { verdict: 'unsupported', platform: nameOf(platform), checks: all, ...unproven };
  }
  const verdict = await verifiers[platform](report, options, roots);
  return { ...verdict, checks: [...checks.list, ...verdict.checks] };
}

/** Adds the hash of evidence to the verdict on it. */
async function hashed<Tcb>(bytes: Bytes, judge: (bytes: Bytes) => Promise<Unhashed<Tcb>>): Promise<Verdict<Tcb>> {
  return { ...(await judge(bytes)), token_hash: toHex(await sha(256, bytes)) };
}

type Verifier = (evidence: Bytes, options: VerifyOptions, roots: TestRoots) => Promise<Unhashed<SnpTcb | TdxTcb>>;

/** Verifies a TDX quote, by a module that is loaded when the first quote comes. */
const verifyTdx = async (...given: Parameters<Verifier>) => (await import('./verify-tdx.ts')).verifyTdx(...given);

/**
 * The functions that verify the evidence in a token, by the platform that the token claims. Those of a vTPM are loaded when the first such
 * token comes.
 */
const verifiers: Record<SupportedPlatform, Verifier> = {
  SNP: verifySnpEvidence,
  TDX: verifyTdx,
  'SNP-vTPM': async (...given) => (await import('./verify-vtpm.ts')).verifySnpVtpm(...given),
  Azure: async (...given) => (await import('./verify-vtpm.ts')).verifyAzure(...given),
};

/**
 * Verifies the evidence of SNP that a token contains: a protobuf message with report and certificates, the JSON of CoCo's attestation agent, or the
 * report alone.
 */
async function verifySnpEvidence(evidence: Bytes, options: VerifyOptions, roots: TestRoots): ReturnType<typeof verifySnp> {
  if (evidence.length === reportSize) return verifySnp(evidence, [], options, roots);
  const checks = new Checks(['report_format']);
  const parse = isJson(evidence) ? parseSnpJson : parseSnpMessage;
  const message = await checks.produce('report_format', () => [parse(evidence), '']);
  if (message === undefined) return { ...checks.conclude(), platform: 'snp', ...unproven };
  return verifySnp(message.report, message.certificates, options, roots);
}

/** Returns the name of a platform that a token claims, in lower case, such as `snp-vtpm`, `azure` or `nocc`. */
function nameOf(platform: string): string {
  return platform
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, '-')
    .slice(0, 40);
}

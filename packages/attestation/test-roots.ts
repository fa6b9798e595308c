import type { VerifyOptions } from './options.ts';
import { verifySnpReportBy, verifyTdxQuoteBy, verifyTokenBy } from './verify-evidence.ts';

/**
 * Returns the verifying functions of this package as they are with other root certificates than those of AMD and Intel, in DER or PEM.
 * For tests only: what such roots certify proves no TEE, and their verdicts have the check `test_root`, which says so.
 */
export const withTestRoots = (roots: readonly Uint8Array[]) => ({
  verifyToken: (token: Uint8Array, options: VerifyOptions) => verifyTokenBy(roots, token, options),
  verifySnpReport: (report: Uint8Array, options: VerifyOptions) => verifySnpReportBy(roots, report, options),
  verifyTdxQuote: (quote: Uint8Array, options: VerifyOptions) => verifyTdxQuoteBy(roots, quote, options),
});

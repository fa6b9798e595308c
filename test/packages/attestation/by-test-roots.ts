import { verifySnpReport, verifyTdxQuote, verifyToken, type VerifyOptions } from 'computation-management-attestation';
import { withTestRoots } from 'computation-management-attestation/test-roots';

/** The options of the verifying functions, with the root certificates that tests trust in place of those of AMD and Intel. */
export interface OptionsOfTest extends VerifyOptions {
  roots?: readonly Uint8Array[];
}

const by = (roots?: readonly Uint8Array[]) => (roots ? withTestRoots(roots) : { verifyToken, verifySnpReport, verifyTdxQuote });

/** The verifying functions of the package, which trust the roots in the options if these have any. */
export const byTestRoots = {
  verifyToken: (token: Uint8Array, { roots, ...options }: OptionsOfTest) => by(roots).verifyToken(token, options),
  verifySnpReport: (report: Uint8Array, { roots, ...options }: OptionsOfTest) => by(roots).verifySnpReport(report, options),
  verifyTdxQuote: (quote: Uint8Array, { roots, ...options }: OptionsOfTest) => by(roots).verifyTdxQuote(quote, options),
};

export { parseCertificates } from './certificates.ts';
export { lacksCertificate, verifyCertificates } from './verify-snp.ts';
export { verifyCollateral, verifySnpReport, verifyTdxQuote, verifyToken } from './verify-evidence.ts';
export { checkPolicy, failedChecks, isJudged, type AttestationPolicy, type JudgedToken, type JudgedVerdict } from './policy.ts';
export type { Binding, VerifyOptions } from './options.ts';
export type { SnpTcb } from './snp-report.ts';
export { type TdxCollateral, validityOf } from './tdx-collateral.ts';
export type { TdxTcb } from './verify-tdx.ts';
export type { Check, Verdict } from './verdict.ts';

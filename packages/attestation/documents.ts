/** Reads the documents that verify evidence, without the code that verifies evidence. */

export { parseCertificates } from './certificates.ts';
export { validityOf } from './tdx-collateral.ts';

/**
 * Returns the verifying functions of this package as they are with other root certificates than those of AMD and Intel, in DER or PEM.
 * For tests only: what such roots certify proves no TEE, and their verdicts have the check `test_root`, which says so.
 */
export { verifiersUpTo as withTestRoots } from './verify-evidence.ts';

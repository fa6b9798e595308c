/** The entry `computation-management-verify`. */
export type { AttestationFiles } from './check-attestation.ts';
export { checkEvidence, parseJson, UnreadableError } from './check-evidence.ts';
export { type Finding, formatFindings, note } from './finding.ts';

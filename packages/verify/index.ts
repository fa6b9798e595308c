/** The entry `computation-management-verify`. */
export { archiveIn, keysOfArchive } from './archive.ts';
export type { AttestationFiles } from './check-attestation.ts';
export { checkEvidence, type EvidenceFiles, parseJson, UnreadableError } from './check-evidence.ts';
export { type Finding, formatFindings, sumOf } from './finding.ts';

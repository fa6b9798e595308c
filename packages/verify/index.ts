/** The entry `computation-management-verify`. */
export { archiveIn, keysOfArchive } from './archive.ts';
export type { AttestationFiles } from './check-attestation.ts';
export { checkEvidence, type EvidenceFiles } from './check-evidence.ts';
export { parseJson, UnreadableError } from './read-json.ts';
export { type Finding, formatFindings, sumOf } from './finding.ts';

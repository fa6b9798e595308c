/** The entry of the package `computation-management-verify`. */
export { checkEvidence } from './check-evidence.ts';
export {
  archiveIn,
  type AttestationFiles,
  type EvidenceFiles,
  keysOfArchive,
  parseJson,
  UnreadableError,
} from './evidence-files.ts';
export { exitCodeOf, type Finding, formatFindings, sumOf } from './finding.ts';

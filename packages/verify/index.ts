/** The entry of the package `computation-management-verify`. */
export { type AskedKey, checkAuthorization, type OwnApproval, type OwnKnowledge } from './check-authorization.ts';
export { checkEvidence } from './check-evidence.ts';
export { compareEvidence } from './compare-evidence.ts';
export { type LogKnowledge, type SeenLog, shortForm, tagsOfRun, type WitnessPolicy } from './known-logs.ts';
export {
  archiveIn,
  type AttestationFiles,
  type EvidenceFiles,
  keysOfArchive,
  parseJson,
  UnreadableError,
} from './evidence-files.ts';
export { findSecondEntries, followLog, LogAlarm, logOfEvidence, withTags } from './follow-log.ts';
export { exitCodeOf, type Finding, formatFindings, sumOf } from './finding.ts';

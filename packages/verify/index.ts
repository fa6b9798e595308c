/** The entry `computation-management-verify`. */
export { checkEvidence, UnreadableError } from './check-evidence.ts';
export { type Finding, formatFindings, note } from './finding.ts';

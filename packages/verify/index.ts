/** The entry `computation-management-verify`. */
export { checkEvidence } from './check-evidence.ts';
export { type Finding, note } from './finding.ts';
export { formatFindings } from './format-findings.ts';
export { UnreadableError } from './unreadable-error.ts';

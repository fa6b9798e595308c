export { type ChangeCard, changeCards, describeDifferences } from './changes.ts';
export { consentSentence, partsText, type SentencePart } from './consent.ts';
export {
  ContradictionError,
  type Coverage,
  describeCoverage,
  nobody,
  readCoverage,
  readJournalHead,
  hasKeyHere,
  keyCaution,
  keyHolders,
} from './coverage.ts';
export { approvalTexts, describeConfiguration, type Fact } from './coverage.ts';
export { type DetailField, detailFields, fieldsText } from './event-details.ts';
export { fetchLines, pcrLines, policyCautions, policyLines } from './lines.ts';
export { policyMembers } from './policy-members.ts';
export type { MarkedText } from './marked.ts';
export { type DescribedManifest, describeManifest, fingerprintOf, type ManifestFile, type Receiver } from './manifest.ts';
export { askForRole, describeProblem, mayNot, type ProblemText, waitAMinute } from './problem.ts';
export { owedSince } from './owed-since.ts';
export { approvalRows, type ApprovalState, describeMissing, isGiven, isNothing, type MissingItem } from './readiness.ts';
export { agoText, csvText, hashGroups, machineHelp, oldText, sentence, shellWord } from './texts.ts';
export { lettersNote, userText, usersText } from 'computation-management-formats/quoted-name';

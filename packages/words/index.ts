export { type ChangeCard, changeCards, describeDifferences } from './changes.ts';
export { consentSentence, partsText, type SentencePart } from './consent.ts';
export {
  approvalTexts,
  ContradictionError,
  type Coverage,
  describeConfiguration,
  describeCoverage,
  type Fact,
  nobody,
  readCoverage,
  readJournalHead,
} from './coverage.ts';
export { type DetailField, detailFields, fieldsText } from './event-details.ts';
export { hasKeyHere, keyCaution, keyHolders } from './file-keys.ts';
export { fetchLines, pcrLines, policyCautions, policyLines } from './lines.ts';
export { policyMembers } from './policy-members.ts';
export type { MarkedText } from './marked.ts';
export { type DescribedManifest, describeManifest, fingerprintOf, type ManifestFile, type Receiver } from './manifest.ts';
export { askForRole, describeProblem, mayNot, type ProblemText, waitAMinute } from './problem.ts';
export { approvalRows, type ApprovalState, describeMissing, isGiven, isNothing, type MissingItem } from './readiness.ts';
export { agoText, csvText, hashGroups, sentence, shellWord } from './texts.ts';
export { lettersNote, userText, usersText } from 'computation-management-formats/quoted-name';

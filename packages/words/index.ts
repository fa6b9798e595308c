export { approvalTexts, cautionsOf } from './cautions.ts';
export { type DescribedChange, describeChanges } from './changes.ts';
export { fetchLines, manifestLines, policyLines } from './lines.ts';

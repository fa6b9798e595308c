import { checkEvidence as check } from '../../../packages/verify/check-evidence.ts';
import type { EvidenceFiles } from '../../../packages/verify/evidence-files.ts';
import { checkEvidenceByTestRoots } from '../../../packages/verify/test-roots.ts';

/** The files that are checked, with the root certificates that tests trust in place of those of AMD and Intel. */
export type FilesOfTest = EvidenceFiles & { roots?: readonly Uint8Array[] };

/** Checks evidence, and trusts the roots among the files if there are any. */
export const checkEvidence = ({ roots, ...files }: FilesOfTest) =>
  roots ? checkEvidenceByTestRoots(files, roots) : check(files);

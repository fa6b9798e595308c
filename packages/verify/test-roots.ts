import { withTestRoots } from 'computation-management-attestation/test-roots';
import { checkEvidenceBy } from './check-evidence.ts';
import type { EvidenceFiles } from './evidence-files.ts';
import { type Finding, note } from './finding.ts';

/**
 * Checks evidence as `checkEvidence` does, and trusts other root certificates than those of AMD and Intel. For tests only: what such
 * roots certify proves no TEE, and a note says so.
 */
export async function checkEvidenceByTestRoots(files: EvidenceFiles, roots: readonly Uint8Array[]): Promise<Finding[]> {
  const findings = await checkEvidenceBy(withTestRoots(roots).verifyToken, files);
  return [...findings, note('Other roots than those of AMD and Intel were trusted, as you said: this proves no TEE.')];
}

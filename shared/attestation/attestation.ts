import { failedChecks } from 'computation-management-attestation/policy';
import type { AttestationPolicy } from 'computation-management-formats/attestation';
import { truncate } from '../runtime/errors.ts';
import type { Attestation, CvmAttestation } from '../rows/attestation.ts';

/**
 * The largest number of characters in which failed checks of an attestation are listed: the list becomes part of a reason of a
 * run, or of a sentence of a dry run.
 */
const longestFailures = 800;

/**
 * Compares attestations of a CVM with the attestation policy of a computation.
 * @returns the checks that fail, as a sentence; undefined if the policy is satisfied, or nothing is verified yet
 */
export function failuresOf(attestations: readonly Attestation[], policy: AttestationPolicy): string | undefined {
  const tokens = attestations.map((verdict) => ({ kind: 'eat', verdict }));
  const failed = tokens.length > 0 ? failedChecks(tokens, policy) : [];
  if (failed.length === 0) return undefined;
  return truncate(failed.map(({ name, detail }) => `${name}: ${detail}`).join('; '), longestFailures);
}

/**
 * Returns a sentence on why a CVM does not satisfy the attestation policy of a computation. Undefined if the CVM satisfies the
 * policy.
 */
export function whyNotAttested(
  id: string,
  { isRegistered, shown, others }: CvmAttestation,
  policy: AttestationPolicy,
): string | undefined {
  const unsatisfied = `The CVM ${id} does not satisfy the attestation policy.`;
  if (!isRegistered) return `${unsatisfied} It is not registered.`;
  if (!shown) return `${unsatisfied} It has no attestation of its present agent and certificate.`;
  const failures = failuresOf([shown, ...others], policy);
  return failures === undefined ? undefined : `${unsatisfied} Failed checks: ${failures}`;
}

import { readComputation } from '../computations/read-computation.ts';
import type { MissingItems } from '../manifest/manifest.ts';
import { readInputs } from '../manifest/read-manifest.ts';
import type { Table } from '../table/table.ts';
import { describeApproval, type Approval } from './approval.ts';
import { becauseOf, digestedManifestOf, isStale, neededApprovals, readinessOf } from './readiness.ts';

/**
 * Reads what is missing before a run on any CVM. Three round trips.
 * @param at RFC 3339, UTC, milliseconds
 * @throws ServiceError `not_found`
 */
export async function readReadiness(
  table: Table,
  domain: string,
  id: string,
  at: string,
): Promise<{ missing: MissingItems; digest: string | undefined }> {
  const inputs = await readInputs(table, domain, await readComputation(table, domain, id));
  const { snapshot, missing } = readinessOf(inputs, { at });
  return { missing, digest: snapshot?.manifest_digest };
}

/**
 * Three round trips.
 * @param at RFC 3339, UTC, milliseconds
 * @throws ServiceError `not_found`
 */
export async function listApprovals(
  table: Table,
  domain: string,
  id: string,
  at: string,
): Promise<{ needed: { user: string; because: string[] }[]; approvals: Approval[] }> {
  const inputs = await readInputs(table, domain, await readComputation(table, domain, id));
  const { digest } = digestedManifestOf(inputs);
  return {
    needed: neededApprovals(inputs).map((needed) => ({ user: needed.user, because: becauseOf(needed) })),
    approvals: inputs.approvals.map((approval) => describeApproval(approval, isStale(approval, inputs, { digest, at }))),
  };
}

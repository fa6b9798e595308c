import { readComputation } from '../computations/read-computation.ts';
import { approvableOf } from '../manifest/manifest.ts';
import { readInputs } from '../manifest/read-manifest.ts';
import type { Table } from '../table/table.ts';
import { describeApproval, type Approval } from './approval.ts';
import { becauseOf, isStale, neededApprovals } from './readiness.ts';

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
  const { digest, configuration_digest } = approvableOf(inputs);
  return {
    needed: neededApprovals(inputs).map((needed) => ({ user: needed.user, because: becauseOf(needed) })),
    approvals: inputs.approvals.map((approval) =>
      describeApproval(approval, isStale(approval, inputs, { digest, configuration_digest, at })),
    ),
  };
}

import { conflict, notFound, preconditionFailed } from '../errors.ts';
import { assertUnclaimed } from '../runs/claim.ts';
import { commitChange, type AnsweredRequest, type Committed } from '../table/commit-change.ts';
import type { Table } from '../table/table.ts';
import { withFreshReads } from '../table/fresh-reads.ts';
import { Transaction } from '../table/transaction.ts';
import { removeCvm } from './change-cvm.ts';
import type { Cvm } from './cvm.ts';
import { describeCvm, readCvmAndClaim } from './read-cvm.ts';

interface DeleteRequest extends AnsweredRequest {
  domain: string;
  cvmId: string;
  /** RFC 3339, UTC, milliseconds. */
  now: string;
  /** Returns whether the request's If-Match names this state. Omit without the header. */
  matchesIfMatch?: ((cvm: Cvm) => boolean) | undefined;
}

/**
 * Removes a registered CVM and forgets its presence. Two round trips.
 * @throws ServiceError `not_found`; `conflict` while a run holds it; `precondition_failed`
 */
export async function deleteCvm(
  table: Table,
  { domain, cvmId, now, matchesIfMatch, answerKeeper }: DeleteRequest,
): Promise<Committed<object>> {
  return await withFreshReads(table, async (table) => {
    const { cvm, ...rest } = await readCvmAndClaim(table, { domain, cvmId });
    if (!cvm) throw notFound('registered CVM');
    if (rest.claim)
      throw conflict('cvm_busy', `A run holds the CVM ${cvmId}. Wait until it ends, or stop it.`, rest.claim.run_id);
    if (matchesIfMatch && !matchesIfMatch(describeCvm(cvm, rest, now))) throw preconditionFailed();
    const transaction = new Transaction();
    removeCvm(transaction, domain, cvm);
    assertUnclaimed(transaction, { domain, cvm_id: cvmId });
    return await commitChange(table, transaction, {}, answerKeeper);
  });
}

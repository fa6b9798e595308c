import { changeInputsWithEvent } from '../computations/change-computation.ts';
import { keysToChange, parseToChange } from '../computations/computation-to-change.ts';
import { parseApproval } from '../manifest/stored-approval.ts';
import { commitChange, type AnsweredRequest, type Committed } from '../table/commit-change.ts';
import { computationKeys } from '../table/keys.ts';
import { getItems, type Table } from '../table/table.ts';
import { Transaction, withFreshReads } from '../table/transaction.ts';

interface WithdrawRequest extends AnsweredRequest {
  domain: string;
  computationId: string;
  by: string;
  /** RFC 3339, UTC, milliseconds. */
  now: string;
}

/**
 * Takes the caller's own approval back. Writes nothing if there is none. Active runs go on. Two round trips.
 * @throws ServiceError `not_found`
 */
export async function withdrawApproval(table: Table, request: WithdrawRequest): Promise<Committed<object>> {
  const { domain, computationId, by, now, answerKeeper } = request;
  const Key = computationKeys.approval(computationId, by);
  return await withFreshReads(table, async (table) => {
    const [item, ...computationItems] = await getItems(table, [Key, ...keysToChange(domain, computationId)]);
    const computation = parseToChange(domain, computationId, computationItems);
    const transaction = new Transaction();
    if (!item) return await commitChange(table, transaction, {}, answerKeeper);
    const details = { digest: parseApproval(item).digest };
    const event = { event_type: 'approval_withdrawn', status: 'success', originator: by, details, lifecycle: false } as const;
    await changeInputsWithEvent(table, transaction, computation, { addedDatasets: 0, event, now });
    transaction.add({ delete: { Key } });
    return await commitChange(table, transaction, {}, answerKeeper);
  });
}

import { isDeepStrictEqual } from 'node:util';
import { changeInputsWithEvent, readToChange } from '../rows/change-computation.ts';
import { approvableOf, readInputs } from '../rows/manifest.ts';
import type { StoredRefusal } from '../rows/stored-approval.ts';
import { approvedKeys, computationKeys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { commitChange, type Committed, Transaction, withFreshReads } from '../table/transaction.ts';
import { describeRefusal, type RefusalInput } from './approval.ts';
import { type Decided, type DecisionRequest, relationsTo } from './approve.ts';

/**
 * Records that the caller refuses to approve a computation, in place of an approval or an earlier refusal. Needs no manifest.
 * Writes nothing if the caller has already refused the same with the same reason. Four round trips.
 * @throws ServiceError `not_found`; `forbidden` for a user who is no party and whom the computation does not name
 */
export async function refuse(table: Table, request: DecisionRequest<RefusalInput>): Promise<Committed<Decided>> {
  const { domain, computationId, given, by, now, permit, answerKeeper } = request;
  const { reason } = given;
  return await withFreshReads(table, async (table) => {
    const computation = await readToChange(table, domain, computationId);
    const inputs = await readInputs(table, domain, computation.row);
    const permitted = permit({ ...relationsTo(inputs), provider: inputs.providers });
    const transaction = new Transaction();
    const before = inputs.refusals.find(({ user_id }) => user_id === by);
    const { digest = null, configuration_digest } = approvableOf(inputs);
    const refusal: StoredRefusal = { user_id: by, digest, configuration_digest, reason, refused_at: now };
    if (before && isDeepStrictEqual(before, { ...refusal, refused_at: before.refused_at })) {
      return await commitChange(table, transaction, { decision: describeRefusal(before), permitted }, answerKeeper);
    }
    const event = {
      event_type: 'approval_refused',
      status: 'success',
      originator: by,
      details: { reason },
      lifecycle: false,
    } as const;
    await changeInputsWithEvent(table, transaction, computation, { addedDatasets: 0, addedRefusals: before ? 0 : 1, event, now });
    transaction.add({ put: { Item: { ...computationKeys.refusal(computationId, by), ...refusal } } });
    if (inputs.approvals.some(({ user_id }) => user_id === by)) {
      const keys = [computationKeys.approval(computationId, by), approvedKeys.approved(computationId, by)];
      transaction.add(...keys.map((Key) => ({ delete: { Key } })));
    }
    return await commitChange(table, transaction, { decision: describeRefusal(refusal), permitted }, answerKeeper);
  });
}

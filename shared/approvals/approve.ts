import { isDeepStrictEqual } from 'node:util';
import { isSignatureOf } from 'computation-management-formats/approval-signature';
import { approvalText, limitsOf } from 'computation-management-formats/consent';
import { timeOf } from 'computation-management-formats/timestamps';
import type { Permitted, Relations } from '../http/caller.ts';
import { administrativeEvent } from '../journal/journal.ts';
import { isInJournal } from '../journal/read-journal.ts';
import { changeInputsWithEvent, keysToChange, parseToChange, readToChange } from '../rows/change-computation.ts';
import { approvableOf, assetsOf, type Inputs, readInputs, resultConsumers } from '../rows/manifest.ts';
import { type Act, recordAct } from '../rows/run-acts.ts';
import type { RunSnapshot } from '../rows/run-snapshot.ts';
import type { Run } from '../rows/run.ts';
import { parseApproval, type StoredApproval, type StoredRefusal } from '../rows/stored-approval.ts';
import { conflict, invalid, ServiceError } from '../runtime/errors.ts';
import { approvalIdKeys, approvedKeys, computationKeys } from '../table/keys.ts';
import { getItems, type Table } from '../table/table.ts';
import { type Action, type Committed, type UserRequest, makeChange } from '../table/transaction.ts';
import {
  type Approval,
  type ApprovalInput,
  describeApproval,
  describeRefusal,
  type Refusal,
  type RefusalInput,
} from './approval.ts';
import { explainChanges, approvedAttributes, aroundOf } from './explain-changes.ts';
import { readCertificates } from './list-approvals.ts';
import { ownReasons } from './readiness.ts';

/** The request of a user to approve a computation, or to refuse. */
export interface DecisionRequest<Given> extends UserRequest {
  computationId: string;
  given: Given;
  permit: (parties: Relations) => Permitted;
}

export interface Decided {
  decision: Approval | Refusal;
  permitted: Permitted;
}

/**
 * Records the caller's approval of the manifest and configuration of a computation, in place of an earlier one or a refusal. Writes nothing if
 * the caller has already given the same approval. Four round trips.
 * @throws ServiceError `not_found`; `forbidden`; `incomplete` while there is no manifest; `conflict` if a given digest is not the
 *   current one, or the journal lacks the event that `journal_head` names; `invalid_request`, after all of these, for a signature that is missing or not the caller's
 */
export async function approve(table: Table, request: DecisionRequest<ApprovalInput>): Promise<Committed<Decided>> {
  const { domain, computationId, given, by, now, permit, answerKeeper } = request;
  return await makeChange(table, answerKeeper, async (table, transaction) => {
    const computation = await readToChange(table, domain, computationId);
    const [inputs, certificates, isHeadKnown] = await Promise.all([
      readInputs(table, domain, computation.row),
      readCertificates(table, domain, given.cvm_ids ?? []),
      given.journal_head ? isInJournal(table, computationId, given.journal_head) : true,
    ]);
    const permitted = permit(relationsTo(inputs));
    const { digest, configuration_digest, manifest, configuration, missing } = approvableOf(inputs);
    if (missing) {
      const detail = 'The computation has no manifest yet, so there is nothing to approve.';
      throw new ServiceError('incomplete', detail, { missing_items: missing });
    }
    // defence
    if (given.digest !== digest || given.configuration_digest !== configuration_digest) {
      const detail = 'The manifest or the configuration has another digest now. Read both again.';
      throw new ServiceError('conflict', detail, { reason: 'stale_digest', manifest_digest: digest, configuration_digest });
    }
    if (!isHeadKnown) throw conflict('unknown_event', 'The journal of this computation has no event with this id and hash.');
    const approval: StoredApproval = {
      user_id: by,
      digest,
      configuration_digest,
      cvm_ids: given.cvm_ids ?? null,
      certificates,
      expires_at: given.expires_at ?? null,
      max_runs: given.max_runs ?? null,
      approval_id: given.approval_id ?? null,
      journal_head: given.journal_head ?? null,
      ...(await signatureOf(request, inputs)),
      approved_at: now,
    };
    const describe = (given: StoredApproval) =>
      describeApproval(given, inputs.used_runs, ownReasons(given, inputs, now).map(explainChanges({ approval: given, inputs })));
    const before = inputs.approvals.find(({ user_id }) => user_id === by);
    if (before && isDeepStrictEqual(before, { ...approval, approved_at: before.approved_at })) {
      return { decision: describe(before), permitted };
    }
    await recordAct(table, transaction, computation, { user: by, now }, (run, snapshot) => actOf(approval, run, snapshot, now));
    if (approval.approval_id !== null) transaction.add(firstUseOf(domain, approval.approval_id));
    const details = { digest, configuration_digest, signed: approval.signature !== null, ...limitsOf(approval) };
    const event = administrativeEvent('approved', by, details);
    const hasRefused = inputs.refusals.some(({ user_id }) => user_id === by);
    const addedRefusals = hasRefused ? -1 : 0;
    await changeInputsWithEvent(table, transaction, computation, { addedDatasets: 0, addedRefusals, event, now });
    transaction.add(
      { put: { Item: { ...computationKeys.approval(computationId, by), ...approval } } },
      {
        put: {
          Item: {
            ...approvedKeys.approved(computationId, by),
            ...approvedAttributes({ manifest, configuration, around: aroundOf(inputs) }),
          },
        },
      },
    );
    if (hasRefused) transaction.add({ delete: { Key: computationKeys.refusal(computationId, by) } });
    return { decision: describe(approval), permitted };
  });
}

/** Returns what a new approval means to the active run: whether it would count for it too, and until when. */
function actOf(approval: StoredApproval, run: Run, snapshot: RunSnapshot, now: string): Act {
  const { digest, configuration_digest, cvm_ids, expires_at, signature } = approval;
  const counts =
    digest === snapshot.manifest_digest &&
    configuration_digest === snapshot.configuration_digest &&
    (cvm_ids === null || cvm_ids.includes(run.cvm_id)) &&
    (signature !== null || snapshot.approval !== 'all_signed') &&
    (expires_at === null || timeOf(expires_at) > timeOf(now));
  return counts ? { until: expires_at } : 'replaced';
}

/** Returns the write that records the identifier of an approval for a number of runs. The transaction fails if it was used before. */
function firstUseOf(domain: string, approvalId: string): Action {
  const put = { Item: { ...approvalIdKeys.used(domain, approvalId) }, ConditionExpression: 'attribute_not_exists(pk)' };
  return { put, otherwise: invalid('/approval_id', 'Expected a UUID that no approval in this domain had before.') };
}

/** Returns the users who are related to a computation as its owner, creators of its assets, result consumers or reviewers. */
function relationsTo(inputs: Inputs): Relations {
  return {
    owner: inputs.computation.owner,
    creator: assetsOf(inputs).map(({ created_by }) => created_by),
    consumer: [...inputs.consumers, ...resultConsumers(inputs)],
    reviewer: inputs.result_review?.reviewers ?? [],
  };
}

/**
 * Verifies the signature of an approval with the key that the caller uploaded, and returns both. Both are null if the caller sent
 * no signature and the computation requires none.
 * @throws ServiceError `invalid_request`
 */
async function signatureOf({ domain, given, by }: DecisionRequest<ApprovalInput>, { computation, keys, approvals }: Inputs) {
  const { signature, digest: manifest_digest, configuration_digest } = given;
  if (signature == null) {
    if (computation.approval !== 'all_signed') return { signature: null, key: null };
    throw invalid('/signature', 'Expected a signature: this computation requires signed approvals.');
  }
  const key = keys.find(({ user_id }) => user_id === by)?.user_key;
  if (key === undefined)
    throw invalid('/signature', 'You uploaded no key to this computation. Upload the key that you sign with.');
  const approved = { domain, computation: computation.id, approver: by, manifest_digest, configuration_digest };
  const text = approvalText({ ...approved, ...limitsOf(given) });
  if (!(await isSignatureOf({ text, key, signature }))) {
    throw invalid('/signature', `Expected a signature by the key that you uploaded, of the text ${text}`);
  }
  // defence
  if (approvals.some((other) => other.user_id !== by && other.key === key)) {
    throw invalid('/signature', 'Another user has signed an approval of this computation with this key. Use a key of your own.');
  }
  return { signature, key };
}

/**
 * Deletes the caller's approval of a computation, or the caller's refusal. Writes nothing if there is neither, unless the active run was started
 * on an approval of the caller: it goes on, but gets no keys any more. Two round trips, or three while a run is active.
 * @throws ServiceError `not_found`
 */
export async function withdrawApproval(table: Table, request: UserRequest & { computationId: string }) {
  const { domain, computationId, by, now, answerKeeper } = request;
  const [approval, refusal] = [computationKeys.approval(computationId, by), computationKeys.refusal(computationId, by)];
  return await makeChange(table, answerKeeper, async (table, transaction) => {
    const [given, refused, ...computationItems] = await getItems(table, [
      approval,
      refusal,
      ...keysToChange(domain, computationId),
    ]);
    const computation = parseToChange(domain, computationId, computationItems);
    await recordAct(table, transaction, computation, { user: by, now }, () => 'withdrew');
    if (!given && !refused && transaction.isEmpty) return {};
    const details = given ? { digest: parseApproval(given).digest } : {};
    const event = administrativeEvent('approval_withdrawn', by, details);
    const addedRefusals = refused ? -1 : 0;
    await changeInputsWithEvent(table, transaction, computation, { addedDatasets: 0, addedRefusals, event, now });
    const keys = refused ? [refusal] : [approval, approvedKeys.approved(computationId, by)];
    transaction.add(...keys.map((Key) => ({ delete: { Key } })));
    return {};
  });
}

/**
 * Records that the caller refuses to approve a computation, in place of an approval or an earlier refusal. Needs no manifest.
 * Writes nothing if the caller has already refused the same with the same reason. Four round trips.
 * @throws ServiceError `not_found`; `forbidden` for a user who is no party and whom the computation does not name
 */
export async function refuse(table: Table, request: DecisionRequest<RefusalInput>): Promise<Committed<Decided>> {
  const { domain, computationId, given, by, now, permit, answerKeeper } = request;
  const { reason } = given;
  return await makeChange(table, answerKeeper, async (table, transaction) => {
    const computation = await readToChange(table, domain, computationId);
    const inputs = await readInputs(table, domain, computation.row);
    const permitted = permit({ ...relationsTo(inputs), provider: inputs.providers });
    const before = inputs.refusals.find(({ user_id }) => user_id === by);
    const { digest = null, configuration_digest } = approvableOf(inputs);
    const refusal: StoredRefusal = { user_id: by, digest, configuration_digest, reason, refused_at: now };
    if (before && isDeepStrictEqual(before, { ...refusal, refused_at: before.refused_at })) {
      return { decision: describeRefusal(before), permitted };
    }
    const event = administrativeEvent('approval_refused', by, { reason });
    await changeInputsWithEvent(table, transaction, computation, { addedDatasets: 0, addedRefusals: before ? 0 : 1, event, now });
    transaction.add({ put: { Item: { ...computationKeys.refusal(computationId, by), ...refusal } } });
    await recordAct(table, transaction, computation, { user: by, now }, () => 'refused');
    if (inputs.approvals.some(({ user_id }) => user_id === by)) {
      const keys = [computationKeys.approval(computationId, by), approvedKeys.approved(computationId, by)];
      transaction.add(...keys.map((Key) => ({ delete: { Key } })));
    }
    return { decision: describeRefusal(refusal), permitted };
  });
}

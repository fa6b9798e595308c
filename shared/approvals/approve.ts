import { isDeepStrictEqual } from 'node:util';
import { isSignatureOf } from 'computation-management-formats/approval-signature';
import { approvalText, limitsOf } from 'computation-management-formats/approval-text';
import type { Permitted, Relations } from '../http/caller.ts';
import { changeInputsWithEvent, keysToChange, parseToChange, readToChange } from '../rows/change-computation.ts';
import { conflict, invalid, ServiceError } from '../runtime/errors.ts';
import { approvableOf, assetsOf, type Inputs, resultConsumers, readInputs } from '../rows/manifest.ts';
import { parseApproval, type StoredApproval } from '../rows/stored-approval.ts';
import { type AnsweredRequest, commitChange, type Committed, Transaction, withFreshReads } from '../table/transaction.ts';
import { approvedKeys, computationKeys } from '../table/keys.ts';
import { type Table, getItems } from '../table/table.ts';
import { type Approval, type ApprovalInput, describeApproval, type Refusal } from './approval.ts';
import { isInJournal } from '../journal/read-journal.ts';
import { readCertificates } from './list-approvals.ts';
import { explainChanges } from './explain-changes.ts';
import { approvedAttributes, aroundOf } from './stale-because.ts';
import { ownReasons } from './readiness.ts';

/** The request of a user to approve a computation, or to refuse. */
export interface DecisionRequest<Given> extends AnsweredRequest {
  domain: string;
  computationId: string;
  given: Given;
  by: string;
  now: string;
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
  return await withFreshReads(table, async (table) => {
    const computation = await readToChange(table, domain, computationId);
    const [inputs, certificates, isHeadKnown] = await Promise.all([
      readInputs(table, domain, computation.row),
      readCertificates(table, domain, given.cvm_ids ?? []),
      given.journal_head ? isInJournal(table, computationId, given.journal_head) : true,
    ]);
    const permitted = permit(relationsTo(inputs));
    const { digest, configuration_digest, manifest, configuration, missing } = approvableOf(inputs);
    if (missing) throw noManifest(missing);
    if (given.digest !== digest || given.configuration_digest !== configuration_digest) {
      throw staleDigest({ manifest_digest: digest, configuration_digest });
    }
    if (!isHeadKnown) throw conflict('unknown_event', 'The journal of this computation has no event with this id and hash.');
    const approval: StoredApproval = {
      user_id: by,
      digest,
      configuration_digest,
      cvm_ids: given.cvm_ids ?? null,
      certificates,
      expires_at: given.expires_at ?? null,
      journal_head: given.journal_head ?? null,
      ...(await signatureOf(request, inputs)),
      approved_at: now,
    };
    const transaction = new Transaction();
    const describe = (given: StoredApproval) =>
      describeApproval(given, ownReasons(given, inputs, now).map(explainChanges({ approval: given, inputs })));
    const before = inputs.approvals.find(({ user_id }) => user_id === by);
    if (before && isDeepStrictEqual(before, { ...approval, approved_at: before.approved_at })) {
      return await commitChange(table, transaction, { decision: describe(before), permitted }, answerKeeper);
    }
    const details = { digest, configuration_digest, signed: approval.signature !== null, ...limitsOf(approval) };
    const event = { event_type: 'approved', status: 'success', originator: by, details, lifecycle: false } as const;
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
    return await commitChange(table, transaction, { decision: describe(approval), permitted }, answerKeeper);
  });
}

/** Returns the users who are related to a computation as its owner, creators of its assets or result consumers. */
export function relationsTo(inputs: Inputs): Relations {
  return {
    owner: inputs.computation.owner,
    creator: assetsOf(inputs).map(({ created_by }) => created_by),
    consumer: [...inputs.consumers, ...resultConsumers(inputs).map(({ user_id }) => user_id)],
  };
}

/** Returns the error `incomplete` for an approval of a computation that has no manifest yet. */
function noManifest(missing_items: { keys: string[]; hashes: string[]; info: string[] }): ServiceError {
  return new ServiceError('incomplete', 'The computation has no manifest yet, so there is nothing to approve.', {
    missing_items,
  });
}

/** Returns the error `conflict` for an approval of digests that are out of date. The error contains the current digests. */
function staleDigest(current: { manifest_digest: string; configuration_digest: string }): ServiceError {
  const detail = 'The manifest or the configuration has another digest now. Read both again.';
  return new ServiceError('conflict', detail, { reason: 'stale_digest', ...current });
}

/**
 * Verifies the signature of an approval with the key that the caller uploaded, and returns both. Both are null if the caller sent
 * no signature and the computation requires none.
 * @throws ServiceError `invalid_request`
 */
async function signatureOf(
  { domain, given, by }: DecisionRequest<ApprovalInput>,
  { computation, keys, approvals }: Inputs,
): Promise<Pick<StoredApproval, 'signature' | 'key'>> {
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
  if (approvals.some((other) => other.user_id !== by && other.key === key)) {
    throw invalid('/signature', 'Another user has signed an approval of this computation with this key. Use a key of your own.');
  }
  return { signature, key };
}

interface WithdrawRequest extends AnsweredRequest {
  domain: string;
  computationId: string;
  by: string;
  now: string;
}

/**
 * Deletes the caller's approval of a computation, or the caller's refusal. Writes nothing if there is neither. Active runs go on. Two
 * round trips.
 * @throws ServiceError `not_found`
 */
export async function withdrawApproval(table: Table, request: WithdrawRequest): Promise<Committed<object>> {
  const { domain, computationId, by, now, answerKeeper } = request;
  const [approval, refusal] = [computationKeys.approval(computationId, by), computationKeys.refusal(computationId, by)];
  return await withFreshReads(table, async (table) => {
    const [given, refused, ...computationItems] = await getItems(table, [
      approval,
      refusal,
      ...keysToChange(domain, computationId),
    ]);
    const computation = parseToChange(domain, computationId, computationItems);
    const transaction = new Transaction();
    if (!given && !refused) return await commitChange(table, transaction, {}, answerKeeper);
    const details = given ? { digest: parseApproval(given).digest } : {};
    const event = { event_type: 'approval_withdrawn', status: 'success', originator: by, details, lifecycle: false } as const;
    const addedRefusals = refused ? -1 : 0;
    await changeInputsWithEvent(table, transaction, computation, { addedDatasets: 0, addedRefusals, event, now });
    const keys = given ? [approval, approvedKeys.approved(computationId, by)] : [refusal];
    transaction.add(...keys.map((Key) => ({ delete: { Key } })));
    return await commitChange(table, transaction, {}, answerKeeper);
  });
}

import { isDeepStrictEqual } from 'node:util';
import { approvalText, isSignatureOf, limitsOf } from 'computation-management-formats/approval-signature';
import { configDigest } from 'computation-management-formats/canonical-json';
import type { Permitted, Relations } from '../access/caller.ts';
import { changeInputsWithEvent, keysToChange, parseToChange, readToChange } from '../computations/change-computation.ts';
import type { StoredComputation } from '../computations/computation.ts';
import { type Definition, readDefinition } from '../computations/read-computation.ts';
import { invalid, preconditionFailed, ServiceError } from '../runtime/errors.ts';
import { assetsOf, type Inputs, resultConsumers } from '../manifest/manifest.ts';
import { readInputs } from '../manifest/read-manifest.ts';
import { parseApproval, type StoredApproval } from '../manifest/stored-approval.ts';
import { type AnsweredRequest, commitChange, type Committed, Transaction } from '../table/transaction.ts';
import { computationKeys } from '../table/keys.ts';
import { getItems, type Table } from '../table/table.ts';
import { withFreshReads } from '../table/fresh-reads.ts';
import { type Approval, type ApprovalInput, describeApproval } from './approval.ts';
import { digestedManifestOf, isStale } from './readiness.ts';

interface ApproveRequest extends AnsweredRequest {
  domain: string;
  computationId: string;
  given: ApprovalInput;
  by: string;
  /** RFC 3339, UTC, milliseconds. */
  now: string;
  /** Throws to refuse the request. */
  permit: (parties: Relations) => Permitted;
  /** Whether the request's If-Match names this state. Omit without the header. */
  matchesIfMatch?: ((row: StoredComputation, definition: Definition) => boolean) | undefined;
}

interface Approved {
  approval: Approval;
  permitted: Permitted;
}

/**
 * Gives the caller's approval of the manifest, and replaces an earlier one. Writes nothing if the caller gave the same before. Four
 * round trips.
 * @throws ServiceError `not_found`; `forbidden`; `incomplete` while there is no manifest; `conflict` if the manifest is another
 * one; `invalid_request` for a signature that is not the caller's; `precondition_failed`, after all of these
 */
export async function approve(table: Table, request: ApproveRequest): Promise<Committed<Approved>> {
  const { domain, computationId, given, by, now, permit, matchesIfMatch, answerKeeper } = request;
  return await withFreshReads(table, async (table) => {
    const computation = await readToChange(table, domain, computationId);
    const [inputs, definition] = await Promise.all([
      readInputs(table, domain, computation.row),
      matchesIfMatch && readDefinition(table, computationId), // read after the row too, so that the row's version guards it
    ]);
    const permitted = permit(partiesOf(inputs));
    const { digest, missing } = digestedManifestOf(inputs);
    if (missing) throw noManifest(missing);
    if (given.digest !== digest) throw staleDigest(digest);
    const approval: StoredApproval = {
      user_id: by,
      digest,
      config_digest: configDigest(inputs.agent_config),
      cvm_ids: given.cvm_ids ?? null,
      expires_at: given.expires_at ?? null,
      ...signatureOf(request, inputs),
      approved_at: now,
    };
    if (matchesIfMatch && definition && !matchesIfMatch(computation.row, definition)) throw preconditionFailed();
    const transaction = new Transaction();
    const describe = (given: StoredApproval) => describeApproval(given, isStale(given, inputs, { digest, at: now }));
    const before = inputs.approvals.find(({ user_id }) => user_id === by);
    if (before && isDeepStrictEqual(before, { ...approval, approved_at: before.approved_at })) {
      return await commitChange(table, transaction, { approval: describe(before), permitted }, answerKeeper);
    }
    const { config_digest, signature } = approval;
    const details = { digest, config_digest, signed: signature !== null, ...limitsOf(approval) };
    const event = { event_type: 'approved', status: 'success', originator: by, details, lifecycle: false } as const;
    await changeInputsWithEvent(table, transaction, computation, { addedDatasets: 0, event, now });
    transaction.add({ put: { Item: { ...computationKeys.approval(computationId, by), ...approval } } });
    return await commitChange(table, transaction, { approval: describe(approval), permitted }, answerKeeper);
  });
}

function partiesOf(inputs: Inputs): Relations {
  return {
    owner: inputs.computation.owner,
    creator: assetsOf(inputs).map(({ created_by }) => created_by),
    consumer: resultConsumers(inputs).map(({ user_id }) => user_id),
  };
}

function noManifest(missing_items: { keys: string[]; hashes: string[]; info: string[] }): ServiceError {
  return new ServiceError('incomplete', 'The computation has no manifest yet, so there is nothing to approve.', {
    missing_items,
  });
}

function staleDigest(manifest_digest: string): ServiceError {
  return new ServiceError('conflict', '`digest` is not the digest of the current manifest. Read the manifest again.', {
    reason: 'stale_digest',
    manifest_digest,
  });
}

/** @throws ServiceError `invalid_request` */
function signatureOf(
  { domain, computationId, given, by }: ApproveRequest,
  { keys }: Inputs,
): Pick<StoredApproval, 'signature' | 'key'> {
  const { signature, digest } = given;
  if (signature == null) return { signature: null, key: null };
  const key = keys.find(({ user_id }) => user_id === by)?.user_key;
  if (key === undefined)
    throw invalid('/signature', 'You uploaded no key to this computation. Upload the key that you sign with.');
  const text = approvalText({ domain, computationId, digest, limits: limitsOf(given) });
  if (!isSignatureOf({ text, key, signature })) {
    throw invalid('/signature', `Expected a signature by the key that you uploaded, of the text ${text}`);
  }
  return { signature, key };
}

interface WithdrawRequest extends AnsweredRequest {
  domain: string;
  computationId: string;
  by: string;
  /** RFC 3339, UTC, milliseconds. */
  now: string;
}

/** Writes nothing if there is no approval. Active runs go on. Two round trips. @throws ServiceError `not_found` */
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

import { isDeepStrictEqual } from 'node:util';
import { fetchedNames } from 'computation-management-formats/source';
import { laterOf } from 'computation-management-formats/timestamps';
import type { Permitted } from '../http/caller.ts';
import type { AssetReplacement } from './asset-input.ts';
import { isContentWithheld, type StoredAsset, changeAsset, readAssetToChange } from '../rows/asset.ts';
import { pendingContent } from './create-asset.ts';
import {
  fetchedAfter,
  refuseMisfits,
  withoutContent,
  decodeContent,
  matchChecksum,
  writeContent,
  type WrittenContent,
} from './given-content.ts';
import { dropContentCheck, putContentCheck } from '../rows/content-check.ts';
import { type ContentStore, presignUpload, uploadKey } from '../rows/content-store.ts';
import { ForbiddenForNowError, preconditionFailed } from '../runtime/errors.ts';
import { readOptionalKey } from '../rows/public-key.ts';
import { type UserRequest, makeChange } from '../table/transaction.ts';
import type { Table } from '../table/table.ts';
import {
  changeInputsLater,
  changeInputsOfLinked,
  completeChangeOfLinked,
  isRenamed,
  refuseTakenPlaces,
  renameLinks,
} from './linked-computations.ts';

interface UpdateRequest extends UserRequest {
  id: string;
  given: AssetReplacement;
  permit: (asset: StoredAsset) => Permitted;
  matchesIfMatch?: ((asset: StoredAsset) => boolean) | undefined;
}

/**
 * Replaces the fields of an asset, and its content if the request has any. The old content stays for two hours, so that callers
 * can finish reading it. If runs depend on what changes, every linked computation gets a new version before this returns.
 * @throws ServiceError `not_found`; `forbidden`; `invalid_request`; `too_large`; `conflict` as in renameLinks;
 *   `precondition_failed`, after all of these; `unavailable`, also if not all linked computations were changed. The same request
 *   again completes that.
 */
export async function updateAsset(table: Table, store: ContentStore, request: UpdateRequest) {
  const { domain, id, given, by, now, permit, matchesIfMatch, answerKeeper } = request;
  let written: WrittenContent | undefined;
  let later: string[] | undefined;
  /** The time at which the asset was last changed before the present update. Empty until the asset has been read. */
  let changedAt = '';
  const updated = await makeChange(table, answerKeeper, async (table, transaction) => {
    const current = await readAssetToChange(table, domain, id);
    const permitted = permit(current);
    const content_access = given.content_access ?? current.content_access;
    const use = given.use ?? current.use;
    const user_key = given.user_key === undefined ? current.user_key : readOptionalKey(given.user_key, '/asset/user_key');
    const fetched = fetchedAfter(given, current);
    const content = given.asset === undefined ? undefined : decodeContent(given.asset);
    const checksum = given.checksum ?? hashOfRealFile(current) ?? content?.checksum ?? current.checksum;
    const isTheSame = content?.checksum === current.content_checksum && checksum === current.checksum;
    const newContent = isTheSame ? undefined : content;
    requireCreatorToChange(by, current, {
      content_access: content_access !== current.content_access,
      use: use !== current.use,
      user_key: user_key !== current.user_key,
      checksum: (given.checksum ?? current.checksum) !== current.checksum,
      asset: newContent !== undefined,
      ...Object.fromEntries(fetchedNames.map((name) => [name, !isDeepStrictEqual(fetched[name], current[name])])),
    });
    const isRepeated = isTheSame && isDeepStrictEqual(fetched.source, current.source);
    refuseMisfits({ asset_type: given.asset_type, ...fetched }, { content: isRepeated ? undefined : given.asset, checksum });
    if (newContent) matchChecksum(newContent, given.checksum);
    const { file_name, description, asset_type, mime_type } = given;
    if (matchesIfMatch && !matchesIfMatch(current)) {
      await refuseTakenPlaces(table, domain, { from: current, to: { ...current, file_name, asset_type } });
      throw preconditionFailed();
    }
    if (newContent && !written) await answerKeeper?.refuseRepeat();
    if (newContent) written ??= await writeContent(table, store, { domain, id }, newContent, now);
    const replacement = newContent && written;
    const moved = replacement?.fields ?? contentMoved(current, fetched.source, domain);
    const change = {
      file_name,
      description,
      asset_type,
      mime_type,
      user_key,
      content_access,
      use,
      ...fetched,
      ...moved,
      ...(moved && current.unread_key ? { unread_key: null } : {}),
      ...(current.upload_problem && (moved || by === current.created_by) ? { upload_problem: null } : {}),
      checksum,
    };
    changedAt = current.updated_at;
    const updated_at = isChanged(current, change) ? laterOf(current.updated_at, now) : current.updated_at;
    const changed = (['file_name', 'checksum', 'user_key', ...fetchedNames] as const).filter(
      (name) => !isDeepStrictEqual(current[name], change[name]),
    );
    const changed_at = { ...current.changed_at, ...Object.fromEntries(changed.map((name) => [name, updated_at])) };
    const renaming = changed.includes('file_name') ? { renamed_by: by } : {};
    const next = changeAsset(transaction, domain, current, { ...change, ...renaming, updated_at, changed_at });
    if (replacement) transaction.add(dropContentCheck(replacement.check));
    if (current.content_key && next.content_key !== current.content_key)
      transaction.add(putContentCheck(current.content_key, now));
    if (next.upload_key && by === next.created_by) transaction.add(putContentCheck(next.upload_key, now));
    if (isRenamed(current, next)) await renameLinks(table, transaction, domain, { from: current, to: next });
    else if (isOtherInput(current, next)) later = await changeInputsOfLinked(table, transaction, domain, id);
    const openKey = by === next.created_by ? next.upload_key : null;
    const upload = openKey === null ? {} : { upload: await presignUpload(store, openKey, now) };
    const withheld = isContentWithheld(next, by) ? { content_withheld: true as const } : {};
    return { asset: { ...next, ...upload, ...withheld }, permitted };
  });
  if (later) await changeInputsLater(table, domain, later);
  // The request may repeat one that died.
  else if (mayChangeInputs(given)) await completeChangeOfLinked(table, { domain, assetId: id }, { changedAt, now });
  return updated;
}

/**
 * Returns the checksum that the creator declared for a file of which only a sample, or nothing yet, is stored. Undefined for
 * other assets.
 */
function hashOfRealFile({ checksum, content_checksum, source }: StoredAsset): string | undefined {
  return checksum === null || checksum === content_checksum || source ? undefined : checksum;
}

/**
 * Returns the changed content fields of an asset that gets or loses its `source` without new content: with a source, the service
 * stores no content; without one, an upload has to arrive, unless there is content. Undefined if neither happens.
 */
function contentMoved({ id, source, content_key }: StoredAsset, newSource: StoredAsset['source'], domain: string) {
  if (newSource) return isDeepStrictEqual(source, newSource) ? undefined : withoutContent;
  return source && content_key === null ? pendingContent(uploadKey(domain, id)) : undefined;
}

function isChanged(current: StoredAsset, change: Partial<StoredAsset>): boolean {
  const names = Object.keys(change) as (keyof StoredAsset)[];
  return names.some((name) => !isDeepStrictEqual(current[name], change[name]));
}

/**
 * Tells whether a change of an asset affects what a run gets: the checksum, the key, the use, or how the agent fetches the
 * content.
 */
function isOtherInput(before: StoredAsset, after: StoredAsset): boolean {
  return (['checksum', 'user_key', 'use', ...fetchedNames] as const).some(
    (name) => !isDeepStrictEqual(before[name], after[name]),
  );
}

/**
 * Tells whether a request to change an asset may have changed what runs use when the same request was sent before. The asset
 * itself no longer shows its former state.
 */
function mayChangeInputs(given: AssetReplacement): boolean {
  return (['asset', 'checksum', 'user_key', 'use', ...fetchedNames] as const).some((name) => given[name] !== undefined);
}

/**
 * Throws if another user than the creator changes fields that only the creator may change.
 * @param changes whether each field changes; `asset` is the content
 * @throws ServiceError `forbidden` that names the fields
 */
function requireCreatorToChange(by: string, { created_by }: StoredAsset, changes: Record<string, boolean>): void {
  if (by === created_by) return; // defence
  const fields = Object.entries(changes).flatMap(([field, isChanged]) => (isChanged ? [field] : []));
  if (fields.length === 0) return;
  const errors = fields.map((field) => ({ pointer: `/asset/${field}`, detail: 'Only the creator of the asset may change it.' }));
  const named = fields.map((field) => `\`${field}\``).join(', ');
  throw new ForbiddenForNowError(`Only the creator of the asset may change ${named}.`, { errors });
}

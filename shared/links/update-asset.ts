import type { Permitted } from '../access/caller.ts';
import type { Asset, AssetInput, StoredAsset } from '../assets/asset.ts';
import { changeAsset } from '../assets/change-asset.ts';
import { dropContentCheck, putContentCheck } from '../assets/content-check.ts';
import { decodeContent, matchChecksum, type InlineContent } from '../assets/content-input.ts';
import { presignUpload, type ContentStore } from '../assets/content-store.ts';
import { readAssetToChange } from '../assets/read-asset.ts';
import { writeContent, type WrittenContent } from '../assets/write-content.ts';
import { readOptionalKey } from '../keys/read-public-key.ts';
import { preconditionFailed } from '../errors.ts';
import type { Table } from '../table/table.ts';
import { Transaction, withFreshReads } from '../table/transaction.ts';
import { refuseTakenPlaces, renameLinks } from './rename-links.ts';

interface UpdateRequest {
  domain: string;
  id: string;
  given: Omit<AssetInput, 'checksum'> & { checksum?: string | null | undefined };
  /** RFC 3339, UTC, milliseconds. */
  now: string;
  /** Called with the current asset. Throws to refuse the request. */
  permit: (asset: StoredAsset) => Permitted;
  /** Returns whether the request's If-Match names this state. Omit without the header. */
  isNamed?: ((asset: StoredAsset) => boolean) | undefined;
}

/**
 * Replaces an asset. New content gets a new key, so that callers who are reading the old content are not disturbed. A content
 * check removes the old content later.
 * @throws ServiceError `not_found`; `invalid_request`; `too_large`; `conflict` as in renameLinks;
 * `precondition_failed`, after all of these
 */
export async function updateAsset(
  table: Table,
  store: ContentStore,
  request: UpdateRequest,
): Promise<{ asset: StoredAsset & Asset; permitted: Permitted }> {
  const { domain, id, given, now, permit, isNamed } = request;
  let written: WrittenContent | undefined;
  const { row, permitted } = await withFreshReads(table, async (table) => {
    const current = await readAssetToChange(table, domain, id);
    const permitted = permit(current);
    const user_key = readOptionalKey(given.user_key, '/asset/user_key');
    const content = changedContent(given, current);
    const { file_name, description, asset_type, mime_type } = given;
    if (isNamed && !isNamed(current)) {
      await refuseTakenPlaces(table, domain, { from: current, to: { ...current, file_name, asset_type } });
      throw preconditionFailed();
    }
    if (content) written ??= await writeContent(table, store, { domain, id }, content, now);
    const replacement = content ? written : undefined;
    const transaction = new Transaction();
    const next = changeAsset(transaction, domain, current, {
      file_name,
      description,
      asset_type,
      mime_type,
      user_key,
      updated_at: now,
      ...(replacement?.fields ?? { checksum: given.checksum ?? current.checksum }),
    });
    if (replacement) transaction.add(dropContentCheck(replacement.check));
    if (replacement && current.content_key) transaction.add(putContentCheck(current.content_key, now));
    if (next.upload_key) transaction.add(putContentCheck(next.upload_key, now));
    await renameLinks(table, transaction, domain, { from: current, to: next });
    await transaction.commit(table);
    return { row: next, permitted };
  });
  const upload = row.upload_key === null ? {} : { upload: await presignUpload(store, row.upload_key, now) };
  return { asset: { ...row, ...upload }, permitted };
}

/** Returns the content sent, or undefined if the asset already has this content and this checksum. */
function changedContent(given: UpdateRequest['given'], current: StoredAsset): InlineContent | undefined {
  if (given.asset === undefined) return undefined;
  const content = decodeContent(given.asset);
  const isTheSame = content.checksum === current.content_checksum && (given.checksum ?? content.checksum) === current.checksum;
  if (isTheSame) return undefined;
  matchChecksum(content, given.checksum);
  return content;
}

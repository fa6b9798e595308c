import type { Permitted } from '../access/caller.ts';
import type { Asset, AssetInput, StoredAsset } from '../assets/asset.ts';
import { changeAsset } from '../assets/change-asset.ts';
import { dropContentCheck, putContentCheck } from '../assets/content-check.ts';
import { decodeContent, matchChecksum, type InlineContent } from '../assets/content-input.ts';
import { presignUpload, type ContentStore } from '../assets/content-store.ts';
import { readAssetToChange } from '../assets/read-asset.ts';
import { writeContent, type WrittenContent } from '../assets/write-content.ts';
import { readOptionalKey } from '../keys/read-public-key.ts';
import { commitChange, refuseRepeat, type Kept } from '../table/commit-change.ts';
import type { Table } from '../table/table.ts';
import { Transaction, withFreshReads } from '../table/transaction.ts';
import { renameLinks } from './rename-links.ts';

interface UpdateRequest {
  domain: string;
  id: string;
  given: Omit<AssetInput, 'checksum'> & { checksum?: string | null | undefined };
  /** RFC 3339, UTC, milliseconds. */
  now: string;
  /** Called with the current asset. Throws to refuse the request. */
  permit: (asset: StoredAsset) => Permitted;
}

interface UpdatedAsset {
  /** With the key that `upload` was made for. */
  asset: Asset & Pick<StoredAsset, 'upload_key'>;
  permitted: Permitted;
}

/**
 * Replaces an asset. New content gets a new key, so that callers who are reading the old content are not disturbed. A content
 * check removes the old content later.
 * @throws ServiceError `not_found`; `invalid_request`; `too_large`; `conflict` as in renameLinks
 */
export async function updateAsset(table: Table, store: ContentStore, request: UpdateRequest): Promise<Kept<UpdatedAsset>> {
  const { domain, id, given, now, permit } = request;
  let written: WrittenContent | undefined;
  return await withFreshReads(table, async (table) => {
    const current = await readAssetToChange(table, domain, id);
    const permitted = permit(current);
    const user_key = readOptionalKey(given.user_key, '/asset/user_key');
    const content = changedContent(given, current);
    if (content && !written) await refuseRepeat(table);
    if (content) written ??= await writeContent(table, store, { domain, id }, content, now);
    const replacement = content ? written : undefined;
    const { file_name, description, asset_type, mime_type } = given;
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
    const upload = next.upload_key === null ? {} : { upload: await presignUpload(store, next.upload_key, now) };
    return await commitChange(table, transaction, { asset: { ...next, ...upload }, permitted });
  });
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

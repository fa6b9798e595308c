import { numberedId } from 'computation-management-formats/identifiers';
import { readOptionalKey } from '../rows/public-key.ts';
import { commitChange, type UserRequest, type Committed, Transaction } from '../table/transaction.ts';
import { lists } from '../table/keys.ts';
import { nextNumber } from '../table/writes.ts';
import type { Table } from '../table/table.ts';
import { type Asset, type StoredAsset, addAsset } from '../rows/asset.ts';
import type { AssetInput } from './asset-input.ts';
import {
  fetchedAfter,
  refuseMisfits,
  withoutContent,
  type ContentFields,
  decodeContent,
  matchChecksum,
  writeContent,
} from './given-content.ts';
import { dropContentCheck, putContentCheck } from '../rows/content-check.ts';
import { presignUpload, uploadKey, type ContentStore } from '../rows/content-store.ts';

interface NewAsset extends AssetInput, UserRequest {
  by: string;
  now: string;
}

/**
 * Creates an asset. Two round trips to the table, or three with inline content, which is stored before the asset is. Without
 * inline content, the result has a presigned upload, unless the agent fetches the content from elsewhere.
 * @throws ServiceError `invalid_request`, `too_large`
 */
export async function createAsset(table: Table, store: ContentStore, given: NewAsset): Promise<Committed<StoredAsset & Asset>> {
  const { domain, asset: encoded, file_name, description, asset_type, mime_type, content_access, use, by, now } = given;
  const fetched = fetchedAfter(given);
  refuseMisfits({ asset_type, ...fetched }, { content: encoded, checksum: given.checksum });
  const content = encoded === undefined ? undefined : decodeContent(encoded);
  if (content) matchChecksum(content, given.checksum);
  const user_key = readOptionalKey(given.user_key, '/asset/user_key');

  const [number] = await Promise.all([nextNumber(table, lists.assets(domain)), content && given.answerKeeper?.refuseRepeat()]);
  const id = numberedId(number);
  const written = content && (await writeContent(table, store, { domain, id }, content, now));
  const key = written || fetched.source ? undefined : uploadKey(domain, id);
  const row: StoredAsset = {
    id,
    file_name,
    description,
    asset_type,
    mime_type,
    user_key,
    content_access,
    use,
    ...fetched,
    created_by: by,
    created_at: now,
    updated_at: now,
    key: null,
    closing_until: null,
    version: 1,
    ...(written?.fields ?? { ...(key === undefined ? withoutContent : pendingContent(key)), checksum: given.checksum ?? null }),
  };
  const transaction = new Transaction();
  addAsset(transaction, domain, row);
  if (written) transaction.add(dropContentCheck(written.check));
  if (key !== undefined) transaction.add(putContentCheck(key, now));
  return await commitChange(
    table,
    transaction,
    key === undefined ? row : { ...row, upload: await presignUpload(store, key, now) },
    given.answerKeeper,
  );
}

/** Returns the content fields of an asset whose content has yet to be uploaded to the given key in storage. */
export function pendingContent(upload_key: string): Omit<ContentFields, 'checksum'> {
  return { state: 'pending', size: 0, content_key: null, content_checksum: null, upload_key };
}

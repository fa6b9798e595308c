import { numberedId } from 'computation-management-formats/identifiers';
import { readOptionalKey } from '../keys/read-public-key.ts';
import { commitChange, type AnsweredRequest, type Committed, Transaction } from '../table/transaction.ts';
import { lists } from '../table/keys.ts';
import { nextNumber } from '../table/writes.ts';
import type { Table } from '../table/table.ts';
import type { Asset, StoredAsset } from './asset.ts';
import type { AssetInput } from './asset-input.ts';
import { addAsset } from './change-asset.ts';
import { dropContentCheck, putContentCheck } from './content-check.ts';
import { type ContentFields, decodeContent, matchChecksum, writeContent } from './write-content.ts';
import { presignUpload, uploadKey, type ContentStore } from './content-store.ts';

interface NewAsset extends AssetInput, AnsweredRequest {
  domain: string;
  createdBy: string;
  now: string;
}

/**
 * Creates an asset. Two round trips to the table, or three with inline content: that is written before the row, after its content
 * check, so that no row names missing content and no content stays without a row. Otherwise the result has a presigned upload.
 * @throws ServiceError `invalid_request`, `too_large`
 */
export async function createAsset(table: Table, store: ContentStore, given: NewAsset): Promise<Committed<StoredAsset & Asset>> {
  const { domain, asset: encoded, file_name, description, asset_type, mime_type, content_access, use, createdBy, now } = given;
  const content = encoded === undefined ? undefined : decodeContent(encoded);
  if (content) matchChecksum(content, given.checksum);
  const user_key = readOptionalKey(given.user_key, '/asset/user_key');

  const [number] = await Promise.all([nextNumber(table, lists.assets(domain)), content && given.answerKeeper?.refuseRepeat()]);
  const id = numberedId(number);
  const written = content && (await writeContent(table, store, { domain, id }, content, now));
  const key = uploadKey(domain, id);
  const row: StoredAsset = {
    id,
    file_name,
    description,
    asset_type,
    mime_type,
    user_key,
    content_access,
    use,
    created_by: createdBy,
    created_at: now,
    updated_at: now,
    closing_until: null,
    version: 1,
    ...(written?.fields ?? pendingContent(key, given.checksum)),
  };
  const transaction = new Transaction();
  addAsset(transaction, domain, row);
  transaction.add(written ? dropContentCheck(written.check) : putContentCheck(key, now));
  return await commitChange(
    table,
    transaction,
    written ? row : { ...row, upload: await presignUpload(store, key, now) },
    given.answerKeeper,
  );
}

function pendingContent(upload_key: string, checksum: string | undefined): ContentFields {
  return {
    state: 'pending',
    size: 0,
    checksum: checksum ?? null,
    content_key: null,
    content_checksum: null,
    upload_key,
  };
}

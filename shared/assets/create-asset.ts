import { numberedId } from '../identifiers.ts';
import { readOptionalKey } from '../keys/read-public-key.ts';
import { listKeys, lists } from '../table/keys.ts';
import { addToList, nextNumber } from '../table/listing.ts';
import { type Table } from '../table/table.ts';
import { transact } from '../table/transaction.ts';
import type { Asset, AssetInput, StoredAsset } from './asset.ts';
import { decodeContent, matchChecksum } from './content-input.ts';
import { dropContentCheck, putContentCheck } from './content-check.ts';
import { presignUpload, uploadKey, type ContentStore } from './content-store.ts';
import { writeContent, type ContentFields } from './write-content.ts';

interface NewAsset extends AssetInput {
  domain: string;
  createdBy: string;
  now: string;
}

/**
 * Two round trips to the table, three with content sent inline, whose name is noted and which is written to storage before the
 * row: the row always points at content that is there, and content that no row came to name is collected. Without content the
 * answer tells how to upload it.
 * @throws ServiceError `invalid_request`, `too_large`
 */
export async function createAsset(table: Table, store: ContentStore, given: NewAsset): Promise<Asset> {
  const { domain, asset: encoded, file_name, description, asset_type, mime_type, createdBy, now } = given;
  const content = encoded === undefined ? undefined : decodeContent(encoded);
  if (content) matchChecksum(content, given.checksum);
  const user_key = readOptionalKey(given.user_key, '/asset/user_key');

  const list = lists.assets(domain);
  const number = await nextNumber(table, list);
  const id = numberedId(number);
  const written = content && (await writeContent(table, store, { domain, id }, content, now));
  const key = uploadKey(domain, id);
  const row: StoredAsset = {
    ...{ id, file_name, description, asset_type, mime_type, user_key },
    ...{ created_by: createdBy, created_at: now, updated_at: now, version: 1 },
    ...(written?.fields ?? awaitedContent(key, given.checksum)),
  };
  await transact(table, [
    { put: { Item: { ...listKeys.row(list, number), ...row }, ConditionExpression: 'attribute_not_exists(pk)' } },
    ...addToList(list, number, asset_type),
    written ? dropContentCheck(written.check) : putContentCheck(key, now),
  ]);
  return written ? row : { ...row, upload: await presignUpload(store, key, now) };
}

function awaitedContent(upload_key: string, checksum: string | undefined): ContentFields {
  return { state: 'pending', size: 0, checksum: checksum ?? null, content_key: null, content_checksum: null, upload_key };
}

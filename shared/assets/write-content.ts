import { putItem, type Table } from '../table/table.ts';
import type { StoredAsset } from './asset.ts';
import { contentCheckItem, type ContentCheck } from './content-check.ts';
import type { InlineContent } from './content-input.ts';
import { inlineKey, putContent, type ContentStore } from './content-store.ts';

/** What a row says of its content, there or awaited. */
export type ContentFields = Pick<StoredAsset, 'state' | 'size' | 'checksum' | 'content_key' | 'content_checksum' | 'upload_key'>;

/** Content that is in storage, for the transaction that writes its row: the row's fields, and the note to take back. */
export interface WrittenContent {
  fields: ContentFields;
  check: ContentCheck;
}

/** Writes content sent inline under a name of its own, which is noted before. One round trip to the table, one to storage. */
export async function writeContent(
  table: Table,
  store: ContentStore,
  asset: { domain: string; id: string },
  { bytes, checksum }: InlineContent,
  now: string,
): Promise<WrittenContent> {
  const key = inlineKey(asset.domain, asset.id);
  const check = contentCheckItem(key, now);
  await putItem(table, check);
  await putContent(store, key, bytes);
  return {
    fields: { state: 'ready', size: bytes.length, checksum, content_key: key, content_checksum: checksum, upload_key: null },
    check,
  };
}

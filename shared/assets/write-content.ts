import type { Table } from '../table/table.ts';
import { putItem } from '../table/writes.ts';
import type { StoredAsset } from './asset.ts';
import { contentCheckItem, type ContentCheck } from './content-check.ts';
import type { InlineContent } from './content-input.ts';
import { inlineKey, putContent, type ContentStore } from './content-store.ts';

/** The fields of an asset's row that describe its content, stored or pending. */
export type ContentFields = Pick<StoredAsset, 'state' | 'size' | 'checksum' | 'content_key' | 'content_checksum' | 'upload_key'>;

/** Content that has been written to storage. The transaction that writes the row takes `fields` and removes `check`. */
export interface WrittenContent {
  fields: ContentFields;
  check: ContentCheck;
}

/** Writes inline content to a new key, after its content check. One round trip to the table, one to storage. */
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
    fields: {
      state: 'ready',
      size: bytes.length,
      checksum,
      content_key: key,
      content_checksum: checksum,
      upload_key: null,
    },
    check,
  };
}

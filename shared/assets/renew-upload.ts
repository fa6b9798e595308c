import { putItem, type Table } from '../table/table.ts';
import type { Asset } from './asset.ts';
import { contentCheckItem, isDueWithin } from './content-check.ts';
import { linkLifetimeInSeconds, presignUpload, type ContentStore } from './content-store.ts';

/** An upload that was presigned before: its key, and when. */
export interface GivenUpload {
  upload_key: string;
  /** RFC 3339, UTC, milliseconds. */
  given_at: string;
}

/**
 * Presigns an upload again for a repeated request. Adds another content check if the first is due while the new link is valid,
 * because it would miss content that arrives later.
 */
export async function renewUpload(
  table: Table,
  store: ContentStore,
  { upload_key, given_at }: GivenUpload,
  now: string,
): Promise<NonNullable<Asset['upload']>> {
  if (isDueWithin(linkLifetimeInSeconds, given_at, now)) await putItem(table, contentCheckItem(upload_key, now));
  return await presignUpload(store, upload_key, now);
}

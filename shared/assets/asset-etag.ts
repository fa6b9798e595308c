import * as v from 'valibot';
import { etagOf } from '../http/etags.ts';
import type { StoredAsset } from './asset.ts';
import { assetSchema, type ContentRead } from './asset-schema.ts';

/**
 * Returns the entity tag of an asset. Endpoints 15, 17 and 18 give the same one for the same state: the key of the content in
 * storage stands for the content, which only 17 returns, and presigned links do not count. Whether the content is withheld
 * follows from the caller and the row.
 * @param reads the reads of the content that the answer shows. They are in a part of their own, which If-Match does not compare
 */
export function assetEtag(asset: StoredAsset, reads: ContentRead[] = []): string {
  const { asset: _content, download: _download, upload: _upload, ...rest } = v.parse(assetSchema, asset);
  const { content_withheld: _withheld, content_reads: _reads, ...shown } = rest;
  const state = [shown, asset.content_key];
  return reads.length === 0 ? etagOf(state) : etagOf(state, reads);
}

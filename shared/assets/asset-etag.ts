import * as v from 'valibot';
import { etagOf } from '../etag.ts';
import { assetSchema, type StoredAsset } from './asset.ts';

/**
 * Returns the entity tag of an asset. Endpoints 15, 17 and 18 give the same one for the same state: the key of the content in
 * storage stands for the content, which only 17 returns, and presigned links do not count.
 */
export function assetEtag(asset: StoredAsset): string {
  const { asset: _content, download: _download, upload: _upload, ...shown } = v.parse(assetSchema, asset);
  return etagOf([shown, asset.content_key]);
}

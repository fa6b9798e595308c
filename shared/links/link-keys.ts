import type { AssetType } from '../asset-type.ts';
import { computationKeys, type Key } from '../table/keys.ts';

/** Returns the key of a link. It ensures that a computation has one algorithm, and that the file names of datasets are unique. */
export function linkKey(computationId: string, asset: { asset_type: AssetType; file_name: string }): Key {
  return asset.asset_type === 'algorithm'
    ? computationKeys.algorithm(computationId)
    : computationKeys.dataset(computationId, asset.file_name);
}

import type { AssetType } from '../assets/asset.ts';
import { computationKeys, type Key } from '../table/keys.ts';

/**
 * Where a computation keeps a link. The key itself makes the algorithm single and the datasets' file names unique.
 */
export function linkKey(computationId: string, asset: { asset_type: AssetType; file_name: string }): Key {
  return asset.asset_type === 'algorithm'
    ? computationKeys.algorithm(computationId)
    : computationKeys.dataset(computationId, asset.file_name);
}

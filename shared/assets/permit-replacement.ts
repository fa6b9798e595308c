import { providing, requireActionToChange, type Caller, type Permitted, type Relations } from '../access/caller.ts';
import type { StoredAsset } from './asset.ts';
import type { AssetReplacement } from './asset-input.ts';

interface ReplacementByCaller {
  given: AssetReplacement;
  caller: Caller;
  permit: (relations: Relations) => Permitted;
}

/**
 * Returns the function that decides whether a caller may replace an asset. It throws ServiceError `forbidden` if the caller may
 * not change the asset, or may not provide assets of the new type.
 */
export function permitReplacement({ given, caller, permit }: ReplacementByCaller): (asset: StoredAsset) => Permitted {
  return ({ created_by, asset_type }) => {
    const permitted = permit({ creator: created_by });
    if (asset_type !== given.asset_type) requireActionToChange(caller, providing(given.asset_type));
    return permitted;
  };
}

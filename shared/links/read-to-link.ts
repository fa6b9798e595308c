import type { StoredAsset } from '../assets/asset.ts';
import { assetKey, parseAsset } from '../assets/read-asset.ts';
import { keysToChange, parseToChange, type ComputationToChange } from '../computations/computation-to-change.ts';
import { getItems, type Table } from '../table/table.ts';

interface ReadRequest {
  domain: string;
  assetId: string;
  computationId: string;
}

/** Reads an asset and a computation whose link is to change, in one round trip. @throws ServiceError `not_found` */
export async function readToLink(
  table: Table,
  { domain, assetId, computationId }: ReadRequest,
): Promise<{ asset: StoredAsset; computation: ComputationToChange }> {
  const keys = [assetKey(domain, assetId), ...keysToChange(domain, computationId)];
  const [assetItem, ...computationItems] = await getItems(table, keys);
  const asset = parseAsset(assetItem, assetId);
  return { asset, computation: parseToChange(domain, computationId, computationItems) };
}

import type { Schemas } from '../generated/api-types.ts';
import { type Client, wholeAnswer } from './create-client.ts';
import { findRows } from './pages.ts';

/** An asset as a client knows it: all of it (`isWhole`), or only the fields of its row in the list of assets. */
export type KnownAsset =
  | { isWhole: true; asset: Schemas['Asset']; etag: string | undefined }
  | { isWhole: false; asset: Schemas['AssetRow'] & Partial<Schemas['Asset']>; etag: undefined };

/**
 * Reads an asset so that its creator does not see a read by another user: the whole asset, or only its row in the list of assets, or of
 * results, if a read of the whole asset would be shown to the creator.
 * @throws ServiceProblem
 */
export async function assetWithoutReading(
  client: Client,
  { id, user, signal }: { id: string; user: string; signal?: AbortSignal | undefined },
): Promise<KnownAsset> {
  const row = await rowOfAsset(client, id, signal);
  const isShown = row?.content_access === 'domain' || row?.asset_type === 'result';
  if (row && row.created_by !== user && isShown) return { isWhole: false, asset: row, etag: undefined };
  const { data, etag } = wholeAnswer(await client.call('getAsset', { id, signal }));
  return { isWhole: true, asset: data, etag };
}

/**
 * Reads the row of an asset in the list of assets, or in that of results. Counts as no read of the asset. Undefined if there is none.
 * @throws ServiceProblem
 */
export async function rowOfAsset(client: Client, id: string, signal?: AbortSignal): Promise<Schemas['AssetRow'] | undefined> {
  const find = async (filter: { asset_type?: 'result' } = {}) =>
    (await findRows(client, 'listAssets', [id], { ...filter, signal })).get(id);
  return (await find()) ?? (await find({ asset_type: 'result' }));
}

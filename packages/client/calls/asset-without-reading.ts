import type { Schemas } from '../generated/api-types.ts';
import { type Client, wholeAnswer } from './create-client.ts';
import { findRows } from './pages.ts';

/** An asset as a client knows it: all of it (`isWhole`), or only the fields of its row in the list of assets. */
export type KnownAsset =
  | { isWhole: true; asset: Schemas['Asset']; etag: string | undefined }
  | { isWhole: false; asset: Schemas['AssetRow'] & Partial<Schemas['Asset']>; etag: undefined };

/**
 * Reads an asset so that its creator does not see a read by another user: the whole asset, or only its row in the list of assets
 * if a read of the whole asset would be shown to the creator.
 * @throws ServiceProblem
 */
export async function assetWithoutReading(
  client: Client,
  { id, user, signal }: { id: string; user: string; signal?: AbortSignal | undefined },
): Promise<KnownAsset> {
  const row = (await findRows(client, 'listAssets', [id], signal)).get(id);
  if (row && row.created_by !== user && row.content_access === 'domain') return { isWhole: false, asset: row, etag: undefined };
  const { data, etag } = wholeAnswer(await client.call('getAsset', { id, signal }));
  return { isWhole: true, asset: data, etag };
}

import type { Schemas } from '../generated/api-types.ts';
import { type Client, wholeAnswer } from './create-client.ts';
import { findRows, page } from './pages.ts';

/** An asset: all of it, or the fields of its row in the list. */
export type KnownAsset =
  | { isWhole: true; asset: Schemas['Asset']; etag: string | undefined }
  | { isWhole: false; asset: Schemas['AssetRow'] & Partial<Schemas['Asset']>; etag: undefined };

/**
 * Reads an asset, or only its row in the list if its creator would see that another user has read it.
 * @throws ServiceProblem
 */
export async function assetWithoutReading(
  client: Client,
  { id, user, signal }: { id: string; user: string; signal?: AbortSignal | undefined },
): Promise<KnownAsset> {
  const row = (await findRows([id], (range) => page(client, 'listAssets', { ...range, signal }))).get(id);
  if (row && row.created_by !== user && row.content_access === 'domain') return { isWhole: false, asset: row, etag: undefined };
  const { data, etag } = wholeAnswer(await client.call('getAsset', { id, signal }));
  return { isWhole: true, asset: data, etag };
}

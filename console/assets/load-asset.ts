import { type Client, page, type Schemas } from '../../client/index.ts';
import { type Me, permissions } from '../access/permissions.ts';
import { findRows } from '../../client/find-rows.ts';
import { wholeAnswer } from '../loading/whole-answer.ts';

export interface LoadedAsset {
  asset: Schemas['AssetRow'] & Partial<Schemas['Asset']>;
  etag: string | undefined;
}

/**
 * Reads an asset. Reading it whole gives others the content, and the creator sees that they read it. So the console asks for the
 * whole only if that is no read: for the creator, or if the content is withheld anyway.
 */
export async function loadAsset(
  client: Client,
  { id, me, signal }: { id: string; me: Me; signal: AbortSignal },
): Promise<LoadedAsset> {
  const row = (await findRows([id], (range) => page(client, 'listAssets', { ...range, signal }))).get(id);
  const isRead = row && row.created_by !== me.user && permissions.readContent(me, row);
  if (isRead) return { asset: row, etag: undefined };
  const { data, etag } = wholeAnswer(await client.call('getAsset', { id, signal }));
  return { asset: data, etag };
}

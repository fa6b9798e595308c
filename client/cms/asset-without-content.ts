import type { Schemas } from '../api-types.ts';
import { findRows } from '../find-rows.ts';
import { page } from '../pages.ts';
import type { Connection } from './context.ts';

export type AssetWithoutContent = Schemas['AssetRow'] & Partial<Schemas['Asset']>;

/**
 * Reads what is known of an asset. The content of another user's asset is not asked for, because its creator sees who reads it: then
 * the fields are those of a row of the list.
 * @throws ServiceProblem
 */
export async function assetWithoutContent({ client, user }: Connection, id: string): Promise<AssetWithoutContent> {
  const row = (await findRows([id], (range) => page(client, 'listAssets', range))).get(id);
  if (row && row.created_by !== user && row.content_access === 'domain') return row;
  return await client.getAsset({ id });
}

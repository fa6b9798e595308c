import { linkAsset } from '../../shared/assets/link-asset.ts';
import type { Table } from '../../shared/table/table.ts';
import type { Call } from './ready-computation.ts';
import { repeating } from './repeating-call.ts';
import { aComputation, aKey, byAlice } from './builders-store.ts';

/** Creates computations that are ready to run, all with the same algorithm. */
export async function readyComputations(table: Table, call: Call, domain: string, count: number): Promise<string[]> {
  const asset = { file_name: 'algorithm.py', asset_type: 'algorithm', asset: btoa('print(1)') };
  const { body } = await repeating(call)('POST', `/${domain}/assets`, { asset });
  const assetId = String(body['id']);
  const ids: string[] = [];
  for (let made = 0; made < count; made++) {
    const id = await aComputation(table, domain);
    await linkAsset(table, { domain, assetId, computationId: id, ...byAlice });
    await aKey(table, domain, id);
    ids.push(id);
  }
  return ids;
}

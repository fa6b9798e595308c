import * as v from 'valibot';
import type { ContentStore } from '../assets/content-store.ts';
import { parseStored } from '../table/parse-stored.ts';
import { purgeKeys } from '../table/keys.ts';
import { queryPartition, type Item, type Table } from '../table/table.ts';
import { assetPurge, purgeAsset } from './purge-asset.ts';
import { computationPurge, purgeComputation } from './purge-computation.ts';

const deleted = v.object({ sk: v.string() });

/**
 * Goes on with every purge that is written down, at its beginning or where it was interrupted.
 * @returns how many it finished
 * @throws AggregateError with what failed, when every purge has had its turn
 */
export async function purgeAll(table: Table, store: ContentStore): Promise<number> {
  const markers = await queryPartition(table, purgeKeys.partition);
  const failures: unknown[] = [];
  for (const marker of markers) {
    try {
      await purge(table, store, marker);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} of ${markers.length} purges failed.`);
  return markers.length;
}

async function purge(table: Table, store: ContentStore, marker: Item): Promise<void> {
  const { sk } = parseStored(deleted, marker, 'purge');
  if (sk.startsWith(purgeKeys.prefixes.asset))
    await purgeAsset(table, store, parseStored(assetPurge, marker, 'purge of an asset'));
  else await purgeComputation(table, parseStored(computationPurge, marker, 'purge of a computation'));
}

import * as v from 'valibot';
import type { ContentStore } from '../assets/content-store.ts';
import { emitWaiting } from '../metrics.ts';
import { purgeKeys } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { queryPartition, type Item, type Table } from '../table/table.ts';
import { deleteItems } from '../table/writes.ts';
import { assetPurge, purgeAsset } from './purge-asset.ts';
import { computationPurge, purgeComputation } from './purge-computation.ts';

const purgeMarker = v.object({ pk: v.string(), sk: v.string() });

/**
 * Runs every recorded purge, including those that were interrupted.
 * @returns the number of finished purges
 * @throws AggregateError with all failures, after every purge was processed
 */
export async function purgeAll(table: Table, store: ContentStore): Promise<number> {
  const shards = await Promise.all(purgeKeys.shards.map((shard) => queryPartition(table, shard)));
  const markers = shards.flat();
  if (markers.length > 0) emitWaiting('maintenance/purge', markers.length);
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

async function purge(table: Table, store: ContentStore, item: Item): Promise<void> {
  const marker = parseStored(purgeMarker, item, 'purge');
  if (marker.sk.startsWith(purgeKeys.prefixes.asset)) {
    await purgeAsset(table, store, parseStored(assetPurge, item, 'purge of an asset'));
  } else {
    await purgeComputation(table, parseStored(computationPurge, item, 'purge of a computation'));
  }
  await deleteItems(table, [marker]);
}

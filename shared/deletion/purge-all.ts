import * as v from 'valibot';
import type { ContentStore } from '../assets/content-store.ts';
import { failureOf } from '../failure-of.ts';
import { emitWaiting } from '../metrics.ts';
import { purgeKeys, writableKey } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { deadlineOf, queryPartition, type Item, type Table } from '../table/table.ts';
import { deleteItems } from '../table/writes.ts';
import { assetPurge, purgeAsset } from './purge-asset.ts';
import { computationPurge, purgeComputation } from './purge-computation.ts';

const purgeMarker = v.object({ pk: v.string(), sk: v.string() });

/** No purge is begun with less time left, and one that fails then was cut off. */
const leastTimeInMilliseconds = 4_000;

/** The alarm purge-backlog wants a figure in each of three periods of five minutes, and a call may take 15 minutes. */
const timeBetweenFiguresInMilliseconds = 60_000;

interface Purged {
  /** The number of finished purges. */
  purged: number;
  /** The number of purges that the time of the function did not allow, or that a fold may follow. The next call continues with them. */
  waiting: number;
}

/**
 * Runs every recorded purge, including those that were interrupted, as far as the time of the function allows.
 * @throws AggregateError with all failures, after every purge was processed for which there was time
 */
export async function purgeAll(table: Table, store: ContentStore): Promise<Purged> {
  const begun = deadlineOf(table);
  const shards = await Promise.all(purgeKeys.shards.map((shard) => queryPartition(table, shard)));
  const markers = shards.flat();
  const isOver = () => deadlineOf(table).remaining < leastTimeInMilliseconds;
  const failures: unknown[] = [];
  let [purged, toldAt, isCutOff] = [0, -Infinity, false];
  const tell = () => {
    if (markers.length > purged) emitWaiting('maintenance/purge', markers.length - purged);
    toldAt = begun.elapsed;
  };
  for (const marker of markers) {
    if (begun.elapsed - toldAt >= timeBetweenFiguresInMilliseconds) tell();
    isCutOff = isOver();
    if (isCutOff) break;
    try {
      if (await purge(table, store, marker)) purged += 1;
    } catch (error) {
      isCutOff = isOver();
      if (isCutOff) break;
      failures.push(failureOf(`${String(marker['sk'])} of the domain ${String(marker['domain'])}`, error));
    }
  }
  if (isCutOff) tell();
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} of ${markers.length} purges failed.`);
  return { purged, waiting: markers.length - purged };
}

/** @returns whether the purge is finished */
async function purge(table: Table, store: ContentStore, item: Item): Promise<boolean> {
  const marker = parseStored(purgeMarker, item, 'purge');
  if (marker.sk.startsWith(purgeKeys.prefixes.asset)) {
    const isOver = await purgeAsset(table, store, parseStored(assetPurge, item, 'purge of an asset'));
    if (!isOver) return false;
  } else {
    await purgeComputation(table, parseStored(computationPurge, item, 'purge of a computation'));
  }
  await deleteItems(table, [writableKey(marker.pk, marker.sk)]);
  return true;
}

import * as v from 'valibot';
import type { ContentStore } from '../assets/content-store.ts';
import type { Deadline } from '../runtime/deadline.ts';
import { failureOf } from '../runtime/errors.ts';
import { emitWaiting } from '../runtime/metrics.ts';
import { purgeKeys, writableKey } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { deadlineOf, queryPartition, type Item, type Table } from '../table/table.ts';
import { deleteItems } from '../table/writes.ts';
import { doPartsUntil, type InParts } from './parts.ts';
import { assetInParts, assetPurge } from './purge-asset.ts';
import { computationInParts, computationPurge } from './purge-computation.ts';
import { Turns } from './turns.ts';

const purgeMarker = v.object({ pk: v.string(), sk: v.string() });

/** No purge is begun with less time left, and one that fails then was cut off. */
const leastTimeInMilliseconds = 4_000;

/** The turn of a domain. It may last longer by one part of a purge. */
const turnInMilliseconds = 1_000;

/** Deletions that come during a call are found this often. */
const timeBetweenReadsInMilliseconds = 5_000;

/** The alarm purge-backlog wants a figure in each of three periods of five minutes, and a call may take 15 minutes. */
const timeBetweenFiguresInMilliseconds = 60_000;

interface Purged {
  /** The number of finished purges. */
  purged: number;
  /** The number of purges that the time of the function did not allow, or that a fold may follow. The next call continues with them. */
  waiting: number;
}

interface OpenPurge {
  marker: Item;
  /** @returns whether the purge is finished */
  parts: InParts<boolean>;
}

/**
 * Runs every recorded purge, including those that were interrupted and those that are recorded meanwhile, as far as the time of the
 * function allows. The domains take turns of a second. Within a domain, a purge that its turn did not finish waits behind the others.
 * @throws AggregateError with all failures, after every purge was processed for which there was time
 */
export async function purgeAll(table: Table, store: ContentStore): Promise<Purged> {
  const call = new PurgeCall(table, store);
  await call.readMarkers();
  return await call.run();
}

class PurgeCall {
  private readonly table: Table;
  private readonly store: ContentStore;
  private readonly begun: Deadline;
  private readonly turns = new Turns<OpenPurge>(turnInMilliseconds);
  private readonly seen = new Set<string>();
  private readonly failures: unknown[] = [];
  private purged = 0;
  private toldAt = -Infinity;
  private readAt = 0;

  constructor(table: Table, store: ContentStore) {
    this.table = table;
    this.store = store;
    this.begun = deadlineOf(table);
  }

  /** Finds the purges that were recorded since the last read. */
  async readMarkers(): Promise<void> {
    this.readAt = this.begun.elapsed;
    const shards = await Promise.all(purgeKeys.shards.map((shard) => queryPartition(this.table, shard)));
    for (const marker of shards.flat()) {
      const name = `${String(marker['pk'])} ${String(marker['sk'])}`;
      if (this.seen.has(name)) continue;
      this.seen.add(name);
      this.turns.add(String(marker['domain']), { marker, parts: purgeInParts(this.table, this.store, marker) });
    }
  }

  async run(): Promise<Purged> {
    let isCutOff = false;
    while (!isCutOff) {
      await this.readMarkersAgain();
      const open = this.turns.next(this.begun.elapsed);
      if (!open) break;
      if (this.begun.elapsed - this.toldAt >= timeBetweenFiguresInMilliseconds) this.tell();
      isCutOff = this.isOver() || !(await this.work(open));
    }
    if (isCutOff) this.tell();
    const { failures, seen, purged } = this;
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} of ${seen.size} purges failed.`);
    return { purged, waiting: seen.size - purged };
  }

  private async readMarkersAgain(): Promise<void> {
    if (this.begun.elapsed - this.readAt < timeBetweenReadsInMilliseconds || this.isOver()) return;
    await this.readMarkers().catch((error: unknown) => this.failures.push(failureOf('the read of later purges', error)));
  }

  /** Works until the turn is over. @returns false if the time of the function is over */
  private async work(open: OpenPurge): Promise<boolean> {
    const { marker, parts } = open;
    try {
      const end = await doPartsUntil(parts, () => this.turns.isOver(this.begun.elapsed) || this.isOver());
      if (!end) this.turns.add(String(marker['domain']), open);
      else if (end.result) this.purged += 1;
    } catch (error) {
      if (this.isOver()) return false;
      this.failures.push(failureOf(`${String(marker['sk'])} of the domain ${String(marker['domain'])}`, error));
    }
    return true;
  }

  private isOver(): boolean {
    return deadlineOf(this.table).remaining < leastTimeInMilliseconds;
  }

  private tell(): void {
    const waiting = this.seen.size - this.purged;
    if (waiting > 0) emitWaiting('maintenance/purge', waiting);
    this.toldAt = this.begun.elapsed;
  }
}

async function* purgeInParts(table: Table, store: ContentStore, item: Item): InParts<boolean> {
  const marker = parseStored(purgeMarker, item, 'purge');
  if (marker.sk.startsWith(purgeKeys.prefixes.asset)) {
    const isOver = yield* assetInParts(table, store, parseStored(assetPurge, item, 'purge of an asset'));
    if (!isOver) return false;
  } else {
    yield* computationInParts(table, parseStored(computationPurge, item, 'purge of a computation'));
  }
  await deleteItems(table, [writableKey(marker.pk, marker.sk)]);
  return true;
}

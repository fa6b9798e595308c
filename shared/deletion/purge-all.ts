import type { ContentStore } from '../rows/content-store.ts';
import { failureOf } from '../runtime/errors.ts';
import { emitWaiting } from '../runtime/log.ts';
import { purgeKeys } from '../table/keys.ts';
import { deadlineOf, type Table, queryPartition, type Item } from '../table/table.ts';
import { purgeInParts, type InParts } from './purge.ts';

/** No purge is begun with less time left, and one that fails then was cut off. */
const leastTimeInMilliseconds = 4_000;

/** Of a domain. It may last longer by one part of a purge. */
const turnInMilliseconds = 1_000;

/** So often deletions are found that come during a call. */
const timeBetweenReadsInMilliseconds = 5_000;

/** The alarm purge-backlog wants a figure in each of three periods of five minutes. */
const timeBetweenFiguresInMilliseconds = 60_000;

interface Purged {
  purged: number;
  /** The time of the function did not allow them, or a fold may follow. */
  waiting: number;
}

interface OpenPurge {
  record: Item;
  parts: InParts<boolean>;
}

/**
 * Also those that are recorded meanwhile, as far as the time of the function allows. The domains take turns of a second, and
 * purges within a domain.
 * @throws AggregateError with all failures, in the end
 */
export async function purgeAll(table: Table, store: ContentStore): Promise<Purged> {
  const begun = deadlineOf(table);
  const isTimeOver = () => deadlineOf(table).remaining < leastTimeInMilliseconds;
  /** By domain, in the order of the turns. */
  const queues = new Map<string, OpenPurge[]>();
  const seen = new Set<string>();
  const failures: unknown[] = [];
  let purged = 0;
  let [toldAt, readAt] = [-Infinity, 0];

  const readRecords = async () => {
    readAt = begun.elapsed;
    const shards = await Promise.all(purgeKeys.shards.map((shard) => queryPartition(table, shard)));
    for (const record of shards.flat()) {
      const name = `${String(record['pk'])} ${String(record['sk'])}`;
      if (seen.has(name)) continue;
      seen.add(name);
      const domain = String(record['domain']);
      queues.set(domain, [...(queues.get(domain) ?? []), { record, parts: purgeInParts(table, store, record) }]);
    }
  };
  const tell = () => {
    if (seen.size > purged) emitWaiting('maintenance/purge', seen.size - purged);
    toldAt = begun.elapsed;
  };
  /** @returns false if the time of the function is over */
  const takeTurn = async (domain: string, queue: OpenPurge[]): Promise<boolean> => {
    const turnEndsAt = begun.elapsed + turnInMilliseconds;
    for (let open = queue.shift(); open; open = queue.shift()) {
      if (isTimeOver()) return false;
      try {
        const { done = false, value: isOver } = await open.parts.next();
        if (done && isOver) purged += 1;
        if (!done) queue[begun.elapsed < turnEndsAt ? 'unshift' : 'push'](open);
      } catch (error) {
        if (isTimeOver()) return false;
        failures.push(failureOf(`${String(open.record['sk'])} of the domain ${domain}`, error));
      }
      if (begun.elapsed >= turnEndsAt) break;
    }
    return true;
  };

  await readRecords();
  for (let turn = first(queues); turn; turn = first(queues)) {
    if (begun.elapsed - toldAt >= timeBetweenFiguresInMilliseconds) tell();
    const [domain, queue] = turn;
    const hasTime = await takeTurn(domain, queue);
    queues.delete(domain);
    if (queue.length > 0) queues.set(domain, queue); // becomes the last one
    if (!hasTime) {
      tell();
      break;
    }
    if (begun.elapsed - readAt < timeBetweenReadsInMilliseconds || isTimeOver()) continue;
    await readRecords().catch((error: unknown) => failures.push(failureOf('the read of later purges', error)));
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} of ${seen.size} purges failed.`);
  return { purged, waiting: seen.size - purged };
}

function first<Key, Value>(map: ReadonlyMap<Key, Value>): [Key, Value] | undefined {
  const [entry] = map;
  return entry;
}

import type { ContentStore } from '../rows/content-store.ts';
import { failureOf } from '../runtime/errors.ts';
import { emitWaiting } from '../runtime/log.ts';
import { purgeKeys } from '../table/keys.ts';
import { deadlineOf, type Table, queryPartitions, type Item } from '../table/table.ts';
import { purgeInParts, type InParts } from './purge.ts';

/**
 * The time in milliseconds that must be left of a call for another purge to begin. A purge that fails with less time left counts
 * as cut off, not as failed.
 */
const leastTimeInMilliseconds = 4_000;

/**
 * The length in milliseconds of a domain's turn in a purge of everything that was deleted. A turn may last longer by one part of
 * a purge.
 */
const turnInMilliseconds = 1_000;

/**
 * The time in milliseconds between two reads of the recorded purges, by which a call finds deletions that are made while it runs.
 */
const timeBetweenReadsInMilliseconds = 5_000;

/**
 * The time in milliseconds between two figures of the metric Waiting. The alarm purge-backlog needs a figure in each of three
 * periods of five minutes.
 */
const timeBetweenFiguresInMilliseconds = 60_000;

/** The result of a call of the purge. */
interface Purged {
  purged: number;
  /** The number of purges that are left for the next call, because time ran out or background work may still write to a list. */
  waiting: number;
}

/** A purge that a call has begun, with its record in the table. */
interface OpenPurge {
  record: Item;
  parts: InParts<boolean>;
}

/**
 * Purges everything that was deleted, also what is recorded meanwhile, as far as the time of the function allows. The domains
 * take turns of a second, and the purges within a domain take turns too.
 * @throws AggregateError with all failures, in the end
 */
export async function purgeAll(table: Table, store: ContentStore): Promise<Purged> {
  const begun = deadlineOf(table);
  const isTimeOver = () => deadlineOf(table).remaining < leastTimeInMilliseconds;
  /** The purges that wait for their turn, by domain. The order of the domains is the order of their turns. */
  const queues = new Map<string, OpenPurge[]>();
  const seen = new Set<string>();
  const failures: unknown[] = [];
  let purged = 0;
  let [toldAt, readAt] = [-Infinity, 0];

  const readRecords = async () => {
    readAt = begun.elapsed;
    for (const record of await queryPartitions(table, purgeKeys.shards)) {
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
  /** Continues the purges of a domain for the length of a turn. @returns false if the time of the function is over */
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

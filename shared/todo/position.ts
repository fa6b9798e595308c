import { positionKeys, type Key } from '../table/keys.ts';
import { queryPartition, type Table } from '../table/table.ts';
import type { StreamBatch } from '../table/fold-lists.ts';
import { putItem, putItemIf } from '../table/writes.ts';

/** Writes the probes that tell how far the table's stream is followed. To be called each minute. */
export async function sendProbes(table: Table, now: string): Promise<void> {
  await Promise.all(positionKeys.probes.map((key) => putItem(table, { ...key, sent_at: now })));
}

/** Notes which probes are in a batch of changes whose earlier changes have been followed. */
export async function noteSeenProbes(table: Table, { Records }: StreamBatch): Promise<void> {
  const times = new Map<string, number>();
  for (const { dynamodb } of Records) {
    const { pk } = { pk: dynamodb.Keys.pk.S };
    const time = dynamodb.ApproximateCreationDateTime;
    if (pk.startsWith(positionKeys.probePrefix) && time !== undefined) times.set(pk, Math.max(time, times.get(pk) ?? 0));
  }
  const later = (seconds: number) => ({
    ConditionExpression: 'attribute_not_exists(pk) OR seconds < :seconds',
    ExpressionAttributeValues: { ':seconds': seconds },
  });
  await Promise.all(
    [...times].map(([probe, seconds]) =>
      putItemIf(table, { ...(positionKeys.seen(probe) satisfies Key), seconds }, later(seconds)),
    ),
  );
}

/**
 * Returns a function that reads the time as of which the lists of what waits are right, at most the given time. The probes of the
 * eight partitions go through the table's stream each minute. A service on one machine, which knows what is left to follow, puts its own
 * function in its place (`replaceClient`).
 */
export function positionInStream(): (table: Table, now: string) => Promise<string> {
  return async (table, now) => {
    const seen = await queryPartition(table, positionKeys.seenPartition);
    const times = positionKeys.probes.map(({ pk }) => Number(seen.find(({ sk }) => sk === pk)?.['seconds'] ?? 0));
    const until = new Date(Math.min(...times) * 1000).toISOString();
    return until < now ? until : now;
  };
}

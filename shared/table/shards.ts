import { createHash } from 'node:crypto';

/**
 * A DynamoDB partition takes 1,000 write units per second. Items that all domains share are spread over this many partitions, by
 * a hash of their sort key. Reading all such items takes a query for each partition.
 */
const shardCount = 8;

/** Returns the partitions of a sharded collection. The first has the plain name: earlier versions wrote everything there. */
export function shardsOf(place: string): string[] {
  return [place, ...Array.from({ length: shardCount }, (_, shard) => `${place}#${shard}`)];
}

/** Returns the partition of an item. @param by its sort key */
export function shardOf(place: string, by: string): string {
  return `${place}#${hashByte(by) % shardCount}`;
}

/** Returns a byte of the text's hash. */
export function hashByte(by: string): number {
  const [byte = 0] = createHash('sha256').update(by).digest();
  return byte;
}

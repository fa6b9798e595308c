import { padded, writableKey, type Key } from './keys.ts';

/** Where the items of a list index are (shared/lists/log.ts). */
export interface IndexPlace {
  /** Unique in the table. */
  scope: string;
  /** The number of partitions of the log. One takes 300 changes per second. */
  logShards: number;
}

/** One partition takes 1,000 write units per second, and a fold may write hundreds of nodes. */
const nodeShards = 8;

/** The first bytes of a node's identifier are the key of its item (shared/lists/node.ts). */
export const nodeKeyBytes = 8;

function keyOfNode(id: string): string {
  return Buffer.from(id, 'base64url').subarray(0, nodeKeyBytes).toString('base64url');
}

export const indexKeys = {
  logs: ({ scope, logShards }: IndexPlace): string[] => Array.from({ length: logShards }, (_, shard) => `log#${scope}#${shard}`),
  entry: ({ scope, logShards }: IndexPlace, number: number, name: string): Key =>
    writableKey(`log#${scope}#${number % logShards}`, name),
  logPrefix: 'log#',
  partition: ({ scope }: IndexPlace) => `index#${scope}`,
  head: (index: IndexPlace): Key => writableKey(indexKeys.partition(index), 'head'),
  /** Sorted by version, so that the newest root is found without its name. */
  root: (index: IndexPlace, tree: string, name: string): Key => writableKey(indexKeys.partition(index), `root#${tree}#${name}`),
  rootPrefix: (tree: string) => `root#${tree}#`,
  fold: (index: IndexPlace, name: string): Key => writableKey(indexKeys.partition(index), `fold#${name}`),
  foldPrefix: 'fold#',
  /** The counts of a day since 1970-01-01 for the statistics. */
  day: (index: IndexPlace, day: number): Key => writableKey(indexKeys.partition(index), `day#${padded(day, 6)}`),
  dayPrefix: 'day#',
  node: ({ scope }: IndexPlace, id: string): Key =>
    writableKey(`nodes#${scope}#${(Buffer.from(id, 'base64url')[0] ?? 0) % nodeShards}`, keyOfNode(id)),
  /** Nodes that no tree contains any more (shared/lists/dead-nodes.ts). */
  deadNodes: (index: IndexPlace, fold: string, first: number): Key =>
    writableKey(indexKeys.partition(index), `dead#${fold}#${padded(first, 6)}`),
  deadPrefix: 'dead#',
  /** The progress of building the trees from the rows. */
  build: (index: IndexPlace): Key => writableKey(indexKeys.partition(index), 'build'),
  /** All partitions of an index. */
  partitions: (index: IndexPlace): string[] => [
    ...indexKeys.logs(index),
    indexKeys.partition(index),
    ...indexKeys.nodeShards(index),
  ],
  nodeShards: ({ scope }: IndexPlace): string[] => Array.from({ length: nodeShards }, (_, shard) => `nodes#${scope}#${shard}`),
};

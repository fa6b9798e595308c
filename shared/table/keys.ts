import { createHash } from 'node:crypto';

/**
 * Every key of the one table. No other file holds a key literal.
 *
 * A list (computations, assets, runs of a domain; computations linked to an asset) is a partition:
 *   counter            the last number given out
 *   row#<number>       the resource itself, small
 *   leaf#<number/256>  which of 256 numbers are present: a number set for each facet
 *   mid#<number/8192>  how many are present in each of 32 leaves: a counter for each leaf and facet
 */
export interface Key {
  pk: string;
  sk: string;
}

declare const owned: unique symbol;

/**
 * The key of a row that is written in one place only: computations, runs, assets and claims. It reads like any key. Writing
 * takes `keyToWrite`, which lint allows in that place alone: shared/computations/change-computation.ts, shared/runs/change-run.ts,
 * shared/runs/claim.ts and shared/assets/change-asset.ts.
 */
export interface RowKey extends Key {
  readonly [owned]: true;
}

/** What any place may write: everything without the key of such a row. */
export interface NotARow {
  readonly [owned]?: never;
}

/** The key of a row, for its one writer. */
export function keyToWrite({ pk, sk }: RowKey): Key {
  return { pk, sk };
}

function rowKey(pk: string, sk: string): RowKey {
  return { pk, sk } as RowKey;
}

/**
 * A list and what it can be filtered by: its members' `facetAttribute`, whose values are the facets. A facet is stored by its
 * code, one upper-case letter that never changes, since the letters are repeated hundreds of times in the items beside the
 * list. A list without a filter has the one facet `all`.
 */
export interface List {
  pk: string;
  /** Whether its rows have one writer (see RowKey). */
  isOwned: boolean;
  facetAttribute?: string;
  facets: Readonly<Record<string, string>>;
}

interface OwnedList extends List {
  isOwned: true;
}

const padded = (value: number, digits: number) => String(value).padStart(digits, '0');

export const numbersPerLeaf = 256;
/** Keeps a mid item below the kilobyte up to which a write costs least, with six facets. */
export const leavesPerMid = 32;
export const numbersPerMid = numbersPerLeaf * leavesPerMid;

const computationFacets = { created: 'N', running: 'R', stopping: 'S', completed: 'C', failed: 'F', cancelled: 'X' };
const assetFacets = { algorithm: 'A', dataset: 'D' };
const oneFacet = { all: 'A' };

export const lists = {
  computations: (domain: string): OwnedList => ({
    pk: `computations#${domain}`,
    isOwned: true,
    facetAttribute: 'status',
    facets: computationFacets,
  }),
  assets: (domain: string): OwnedList => ({
    pk: `assets#${domain}`,
    isOwned: true,
    facetAttribute: 'asset_type',
    facets: assetFacets,
  }),
  runs: (domain: string): OwnedList => ({ pk: `runs#${domain}`, isOwned: true, facets: oneFacet }),
  linkedComputations: (assetId: string) => ({ pk: `linked#${assetId}`, isOwned: false as const, facets: oneFacet }),
};

function keyOfRow(list: List & { isOwned: false }, number: number): Key;
function keyOfRow(list: List, number: number): RowKey;
function keyOfRow(list: List, number: number): Key {
  return rowKey(list.pk, `row#${padded(number, 15)}`);
}

export const listKeys = {
  counter: (list: List): Key => ({ pk: list.pk, sk: 'counter' }),
  row: keyOfRow,
  leaf: (list: List, number: number): Key => ({ pk: list.pk, sk: `leaf#${padded(Math.floor(number / numbersPerLeaf), 13)}` }),
  mid: (list: List, number: number): Key => ({ pk: list.pk, sk: `mid#${padded(Math.floor(number / numbersPerMid), 11)}` }),
  prefixes: { row: 'row#', leaf: 'leaf#', mid: 'mid#' },
};

/** What stands beside a computation's row: its definition, its participants' keys and its journal. */
export const computationKeys = {
  partition: (computationId: string) => `computation#${computationId}`,
  config: (computationId: string): Key => ({ pk: computationKeys.partition(computationId), sk: 'part#config' }),
  algorithm: (computationId: string): Key => ({ pk: computationKeys.partition(computationId), sk: 'part#algorithm' }),
  /** A dataset is keyed by its file name, which makes names unique within a computation; hashed, since a sort key has 1,024 bytes. */
  dataset: (computationId: string, fileName: string): Key => ({
    pk: computationKeys.partition(computationId),
    sk: `part#dataset#${createHash('sha256').update(fileName).digest('base64url')}`,
  }),
  userKey: (computationId: string, userId: string): Key => ({
    pk: computationKeys.partition(computationId),
    sk: `key#${userId}`,
  }),
  prefixes: { part: 'part#', dataset: 'part#dataset#', key: 'key#' },
};

/** A computation's journal: its head, the latest lifecycle event, the events by number, and the index segments. */
export const journalKeys = {
  partition: (computationId: string) => `journal#${computationId}`,
  head: (computationId: string): Key => ({ pk: journalKeys.partition(computationId), sk: 'head' }),
  latest: (computationId: string): Key => ({ pk: journalKeys.partition(computationId), sk: 'latest' }),
  event: (computationId: string, number: number): Key => ({
    pk: journalKeys.partition(computationId),
    sk: `event#${padded(number, 12)}`,
  }),
  /** Sorted by the time of the segment's last event, so that a time range reads only the segments it touches. */
  segment: (computationId: string, lastTimestamp: string, lastNumber: number): Key => ({
    pk: journalKeys.partition(computationId),
    sk: `segment#${lastTimestamp}#${padded(lastNumber, 12)}`,
  }),
  prefixes: { event: 'event#', segment: 'segment#' },
};

/**
 * What a computation's runs leave behind: the snapshot each was started with, and the reports already seen. The private key of
 * the agent stands apart, since it goes with the run's end.
 */
export const runKeys = {
  partition: (computationId: string) => `runs-of#${computationId}`,
  snapshot: (computationId: string, runId: string): Key => ({ pk: runKeys.partition(computationId), sk: `snapshot#${runId}` }),
  serverKey: (computationId: string, runId: string): Key => ({ pk: runKeys.partition(computationId), sk: `server-key#${runId}` }),
  report: (computationId: string, runId: string, reportId: string): Key => ({
    pk: runKeys.partition(computationId),
    sk: `report#${runId}#${reportId}`,
  }),
  /** Where the purge finds `assetKeys.use`. */
  use: (computationId: string, runId: string, assetId: string): Key => ({
    pk: runKeys.partition(computationId),
    sk: `use#${runId}#${assetId}`,
  }),
  prefixes: { snapshot: 'snapshot#', report: 'report#', use: 'use#' },
};

/**
 * A DynamoDB partition takes 1,000 write units a second. What the whole service writes into one place is spread over as many
 * partitions as this, by a hash of its sort key. Whoever lists the place reads all of them.
 */
const shardCount = 8;

/** Partitions of a sharded place. The first has the place's plain name: before shards, everything stood there. */
function shardsOf(place: string): string[] {
  return [place, ...Array.from({ length: shardCount }, (_, shard) => `${place}#${shard}`)];
}

function shardOf(place: string, by: string): string {
  const [byte = 0] = createHash('sha256').update(by).digest();
  return `${place}#${byte % shardCount}`;
}

/** A CVM's work: the claim of the run it is taken by, listed service-wide for the sweep, and its open commands. */
export const cvmKeys = {
  claimShards: shardsOf('claims'),
  claim: (domain: string, cvmId: string): RowKey => rowKey(shardOf('claims', `${domain}#${cvmId}`), `${domain}#${cvmId}`),
  /** Where a claim stands that was made before claims had shards. */
  unshardedClaim: (domain: string, cvmId: string): RowKey => rowKey('claims', `${domain}#${cvmId}`),
  commands: (domain: string, cvmId: string) => `commands#${domain}#${cvmId}`,
  command: (domain: string, cvmId: string, runId: string, type: 'run' | 'stop'): Key => ({
    pk: cvmKeys.commands(domain, cvmId),
    sk: `${runId}#${type}`,
  }),
};

/** An asset that an active run still uses though it has been unlinked since. */
export const assetKeys = {
  uses: (assetId: string) => `uses#${assetId}`,
  use: (assetId: string, runId: string): Key => ({ pk: assetKeys.uses(assetId), sk: runId }),
};

export const statisticsKeys = {
  partition: (domain: string) => `statistics#${domain}`,
  day: (domain: string, day: string): Key => ({ pk: statisticsKeys.partition(domain), sk: day }),
};

/** Names in storage that may turn out to belong to no row, by the time to look. */
export const contentCheckKeys = {
  shards: shardsOf('content-checks'),
  check: (dueAt: string, contentKey: string): Key => ({
    pk: shardOf('content-checks', contentKey),
    sk: `${dueAt}#${contentKey}`,
  }),
  /** From the first check of a shard to those due at `now`. */
  dueIn: (shard: string, now: string): [Key, Key] => [
    { pk: shard, sk: '0' },
    { pk: shard, sk: `${now}#` },
  ],
};

/** How far each migration has come, by its name. */
export const migrationKeys = {
  partition: 'migrations',
  state: (name: string): Key => ({ pk: migrationKeys.partition, sk: name }),
};

/** Deleted things whose remains are still to be removed. */
export const purgeKeys = {
  shards: shardsOf('purges'),
  prefixes: { asset: 'asset#', computation: 'computation#' },
  purge: (kind: 'computation' | 'asset', id: string): Key => ({ pk: shardOf('purges', id), sk: `${kind}#${id}` }),
};

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

/**
 * A list and what it can be filtered by: its members' `facetAttribute`, whose values are the facets. A facet is stored by its
 * code, one upper-case letter that never changes, since the letters are repeated hundreds of times in the items beside the
 * list. A list without a filter has the one facet `all`.
 */
export interface List {
  pk: string;
  facetAttribute?: string;
  facets: Readonly<Record<string, string>>;
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
  computations: (domain: string): List => ({ pk: `computations#${domain}`, facetAttribute: 'status', facets: computationFacets }),
  assets: (domain: string): List => ({ pk: `assets#${domain}`, facetAttribute: 'asset_type', facets: assetFacets }),
  runs: (domain: string): List => ({ pk: `runs#${domain}`, facets: oneFacet }),
  linkedComputations: (assetId: string): List => ({ pk: `linked#${assetId}`, facets: oneFacet }),
};

export const listKeys = {
  counter: (list: List): Key => ({ pk: list.pk, sk: 'counter' }),
  row: (list: List, number: number): Key => ({ pk: list.pk, sk: `row#${padded(number, 15)}` }),
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

/** What a computation's runs leave behind: the snapshot each was started with, and the reports already seen. */
export const runKeys = {
  partition: (computationId: string) => `runs-of#${computationId}`,
  snapshot: (computationId: string, runId: string): Key => ({ pk: runKeys.partition(computationId), sk: `snapshot#${runId}` }),
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

/** A CVM's work: the claim of the run it is taken by, listed service-wide for the sweep, and its open commands. */
export const cvmKeys = {
  claims: 'claims',
  claim: (domain: string, cvmId: string): Key => ({ pk: cvmKeys.claims, sk: `${domain}#${cvmId}` }),
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
  partition: 'content-checks',
  /** Sorts before every check: `between` takes no empty key. */
  first: { pk: 'content-checks', sk: '0' },
  check: (dueAt: string, contentKey: string): Key => ({ pk: contentCheckKeys.partition, sk: `${dueAt}#${contentKey}` }),
};

/** Deleted things whose remains are still to be removed. */
export const purgeKeys = {
  partition: 'purges',
  prefixes: { asset: 'asset#', computation: 'computation#' },
  purge: (kind: 'computation' | 'asset', id: string): Key => ({ pk: purgeKeys.partition, sk: `${kind}#${id}` }),
};

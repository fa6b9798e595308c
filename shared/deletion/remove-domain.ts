import { readSweepState, writeSweepState } from '../runs/sweep-runs.ts';
import { lists, listKeys, purgeKeys, type AnyKey } from '../table/keys.ts';
import {
  belongsTo,
  countedKinds,
  idOfPurge,
  kindOf,
  leadsToOthers,
  type CountedKind,
  type DomainToFind,
} from '../table/keys-of-domain.ts';
import { scanNames, type Segment } from '../table/scan.ts';
import { queryPartition, queryPrefix, type Table } from '../table/table.ts';
import { deleteScanned } from '../table/writes.ts';
import { inParallel } from '../runtime/in-parallel.ts';

/** How many items there are of each kind. */
export type DomainCounts = Record<CountedKind, number>;

interface Removal {
  domain: string;
  /** Returns whether an item stays although it belongs to the domain. Default: none. */
  stays?: (key: AnyKey) => boolean;
  /** Called once, after the first deletions: waits until requests that began before have ended. Default: does not wait. */
  settle?: () => Promise<void>;
  /** Called after each page of the table, with what was found so far. */
  onProgress?: (found: DomainCounts) => void;
}

/** The table is read in this many parts at the same time. */
const segments = 4;

const itemsPerDeletion = 25;

/** What a fold or a purge leaves that was at work in the first pass is found by the second. */
const mostPasses = 5;

/** Counts what the table has of a domain. Reads the whole table: 1 read unit per 4 KB, about 262,000 per GB. */
export async function countDomain(table: Table, removal: Removal): Promise<DomainCounts> {
  const found = await findResources(table, removal.domain);
  const counts = noCounts();
  await onEachPage(table, removal, found, async (keys) => count(counts, keys));
  return counts;
}

/** Returns the identifiers of the runs of a domain. */
export async function runIdsOf(table: Table, domain: string): Promise<string[]> {
  return await idsIn(table, lists.runs(domain));
}

/**
 * Removes every item of a domain from the table, whatever its state. During the removal, nobody may use the domain, and no run may
 * be active. Reads the whole table, at least twice: the last pass shows that nothing is left. May be interrupted and repeated: the items that
 * lead to others are deleted last.
 * @returns what was removed
 * @throws Error if something of the domain is written again and again
 */
export async function removeDomain(table: Table, removal: Removal): Promise<DomainCounts> {
  const { domain, onProgress } = removal;
  const found = await findResources(table, domain);
  const counts = noCounts();
  for (let pass = 1; pass <= mostPasses; pass++) {
    const last: AnyKey[] = [];
    let deleted = 0;
    await onEachPage(table, removal, found, async (keys) => {
      deleted += keys.length;
      last.push(...keys.filter(leadsToOthers));
      await deleteAll(
        table,
        keys.filter((key) => !leadsToOthers(key)),
      );
      count(counts, keys);
      onProgress?.(counts);
    });
    await deleteAll(table, last);
    if (pass === 1 && deleted > 0) await removal.settle?.();
    if (deleted > 0) continue;
    await forgetPlaceOfSweep(table, domain);
    return counts;
  }
  throw new Error(`Items of the domain ${domain} are written again and again. Does somebody use it?`);
}

async function idsIn(table: Table, list: { pk: string }): Promise<string[]> {
  const rows = await queryPrefix(table, list.pk, listKeys.prefixes.row, { attributes: ['id'] });
  return rows.map(({ id }) => String(id));
}

async function findResources(table: Table, domain: string): Promise<DomainToFind> {
  const [computations, assets, purges] = await Promise.all([
    idsIn(table, lists.computations(domain)),
    idsIn(table, lists.assets(domain)),
    Promise.all(purgeKeys.shards.map((shard) => queryPartition(table, shard))),
  ]);
  const purged = purges.flat().filter((purge) => purge['domain'] === domain);
  return { domain, ids: new Set([...computations, ...assets, ...purged.map((purge) => idOfPurge(String(purge['sk'])))]) };
}

/** Calls `work` with the keys of the domain in each page of the table. */
async function onEachPage(
  table: Table,
  { stays = () => false }: Removal,
  found: DomainToFind,
  work: (keys: AnyKey[]) => Promise<void>,
): Promise<void> {
  const readSegment = async (segment: Segment) => {
    let after: AnyKey | undefined;
    do {
      const { items, next } = await scanNames(table, segment, after);
      const going = items.filter((item) => belongsTo(found, item) && !stays(item));
      if (going.length > 0) await work(going);
      after = next;
    } while (after);
  };
  await Promise.all(Array.from({ length: segments }, (_, number) => readSegment({ number, of: segments })));
}

async function deleteAll(table: Table, keys: AnyKey[]): Promise<void> {
  const batches: AnyKey[][] = [];
  for (let start = 0; start < keys.length; start += itemsPerDeletion) batches.push(keys.slice(start, start + itemsPerDeletion));
  await inParallel(batches, (batch) => deleteScanned(table, batch));
}

/** The sweep remembers the claims that it looked at last. */
async function forgetPlaceOfSweep(table: Table, domain: string): Promise<void> {
  const { suspect, other } = await readSweepState(table);
  if (suspect?.domain !== domain && other?.domain !== domain) return;
  await writeSweepState(table, {
    suspect: suspect?.domain === domain ? undefined : suspect,
    other: other?.domain === domain ? undefined : other,
  });
}

export function noCounts(): DomainCounts {
  return Object.fromEntries(countedKinds.map((kind) => [kind, 0])) as DomainCounts;
}

function count(counts: DomainCounts, keys: AnyKey[]): void {
  for (const key of keys) counts[kindOf(key)] += 1;
}

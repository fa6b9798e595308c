import * as v from 'valibot';
import { computationNumber } from '../computations/read-computation.ts';
import { findRun, runKey } from '../computations/read-runs.ts';
import type { Run } from '../computations/run.ts';
import { removeFromLinked } from '../links/link-asset.ts';
import { indexedLists } from '../lists/indexed-list.ts';
import { isLogged, lastVersion } from '../lists/log.ts';
import { removeRun } from '../runs/change-run.ts';
import { inParallel } from '../runtime/in-parallel.ts';
import { assetKeys, computationKeys, journalKeys, runKeys } from '../table/keys.ts';
import { getItems, queryPartition, queryPrefix, type Table } from '../table/table.ts';
import { ConditionFailedError, Transaction } from '../table/transaction.ts';
import { deleteItems } from '../table/writes.ts';
import { mirrorsOf } from '../todo/participation.ts';
import { partitionInParts } from './delete-partition.ts';
import { doAllParts, inChunks, type InParts } from './parts.ts';

export const computationPurge = v.object({
  domain: v.string(),
  id: v.string(),
  /** The computation's version when it was deleted. */
  deleted_as: v.number(),
  /** The owner when it was deleted. */
  owner: v.string(),
});
export type ComputationPurge = v.InferOutput<typeof computationPurge>;

/** Removes the links and runs of a computation that was just deleted from their lists, where readers could still see them. */
export async function purgeListings(table: Table, purge: ComputationPurge): Promise<void> {
  await doAllParts(listingsInParts(table, purge, { isLate: false }));
}

/** Links first: they are few. @param isLate whether the trees of the lists may contain the deletion by now */
async function* listingsInParts(table: Table, purge: ComputationPurge, { isLate }: { isLate: boolean }): InParts {
  const { id } = purge;
  const links = await queryPrefix(table, computationKeys.partition(id), computationKeys.prefixes.part);
  await inParallel(
    links.filter((item) => 'asset_id' in item),
    async (link) => {
      const transaction = new Transaction();
      removeFromLinked(transaction, String(link['asset_id']), { computation: computationNumber(id), version: lastVersion });
      await commitOnce(table, transaction);
    },
  );
  yield* runsInParts(table, purge, isLate);
}

/**
 * Snapshots may have 380 KB each, and a read of them must end before the deadline of an operation: so they are read in parts, and a
 * part is gone before the next is read.
 */
const runsAtOnce = 24;
const itemsPerPart = 100;

async function* runsInParts(table: Table, { domain, id, deleted_as }: ComputationPurge, isLate: boolean): InParts {
  let deletedAs: number | undefined = deleted_as;
  for (;;) {
    const { snapshot } = runKeys.prefixes;
    const snapshots = await queryPrefix(table, runKeys.partition(id), snapshot, { limit: runsAtOnce, attributes: ['sk'] });
    const runIds = snapshots.map(({ sk }) => String(sk).slice(snapshot.length));
    if (isLate && runIds.length > 0 && deletedAs !== undefined) {
      const { index } = indexedLists.computations(domain);
      // A read that sees a run with a deletion that it misses begins again.
      if (!(await isLogged(table, index, computationNumber(id), deletedAs))) deletedAs = undefined;
    }
    await removeRuns(table, domain, await readRuns(table, domain, runIds), deletedAs);
    await deleteItems(
      table,
      runIds.map((runId) => runKeys.snapshot(id, runId)),
    );
    if (runIds.length < runsAtOnce) return;
    yield;
  }
}

async function readRuns(table: Table, domain: string, ids: readonly string[]): Promise<Run[]> {
  const found = ids.flatMap((id) => {
    const key = runKey(domain, id);
    return key ? [{ id, key }] : [];
  });
  const rows = await getItems(
    table,
    found.map(({ key }) => key),
  );
  return found.flatMap(({ id }, at) => findRun(rows[at], id) ?? []);
}

/** Removes runs in one transaction; each in its own if another purge has removed one of them since they were read. */
async function removeRuns(table: Table, domain: string, runs: readonly Run[], deletedAs: number | undefined): Promise<void> {
  if (runs.length === 0) return;
  const transaction = new Transaction();
  for (const run of runs) removeRun(transaction, domain, run, deletedAs);
  if ((await commitOnce(table, transaction)) || runs.length === 1) return;
  await inParallel(runs, (run) => removeRuns(table, domain, [run], deletedAs));
}

/** Removes everything that is left of a deleted computation. Safe to repeat and to interrupt. */
export async function* computationInParts(table: Table, purge: ComputationPurge): InParts {
  yield* listingsInParts(table, purge, { isLate: true });
  const uses = await queryPrefix(table, runKeys.partition(purge.id), runKeys.prefixes.use);
  const keysOfUses = uses.map((use) => assetKeys.use(String(use['asset_id']), String(use['run_id'])));
  const ofUsers = mirrorsOf(purge, await queryPartition(table, computationKeys.partition(purge.id)));
  yield* inChunks([...keysOfUses, ...ofUsers], itemsPerPart, (keys) => deleteItems(table, keys));
  yield* partitionInParts(table, computationKeys.partition(purge.id));
  yield* partitionInParts(table, journalKeys.partition(purge.id));
  yield* partitionInParts(table, runKeys.partition(purge.id));
}

/** Commits removals. @returns false if a condition fails: another purge, or one that died, has done one of them before */
async function commitOnce(table: Table, transaction: Transaction): Promise<boolean> {
  try {
    await transaction.commit(table);
    return true;
  } catch (error) {
    if (!(error instanceof ConditionFailedError)) throw error;
    return false;
  }
}

import * as v from 'valibot';
import { computationNumber } from '../computations/find-computation.ts';
import { removeFromLinked } from '../links/linked-list.ts';
import { indexedLists } from '../lists/indexed-list.ts';
import { isLogged } from '../lists/is-logged.ts';
import { lastVersion } from '../lists/log.ts';
import { removeRun } from '../runs/change-run.ts';
import { findRun, runKey } from '../runs/read-run.ts';
import { assetKeys, computationKeys, journalKeys, runKeys } from '../table/keys.ts';
import { getItem, queryPartition, queryPrefix, type Table } from '../table/table.ts';
import { deleteItems } from '../table/writes.ts';
import { ConditionFailedError, Transaction } from '../table/transaction.ts';
import { mirrorsOf } from '../todo/mirrors.ts';
import { deletePartition } from './delete-partition.ts';
import { inParallel } from '../in-parallel.ts';

export const computationPurge = v.object({
  domain: v.string(),
  id: v.string(),
  /** The computation's version when it was deleted. Earlier versions of the service did not record it. */
  deleted_as: v.optional(v.number()),
  /** The owner when it was deleted. Earlier versions of the service did not record it. */
  owner: v.optional(v.string()),
});
export type ComputationPurge = v.InferOutput<typeof computationPurge>;

/**
 * Removes the links and runs of a deleted computation from their lists, where readers could still see them. Links first: they are few.
 * @param options.isLate whether the trees of the lists may contain the deletion by now. Default: it was just made.
 */
export async function purgeListings(
  table: Table,
  { domain, id, deleted_as }: ComputationPurge,
  { isLate = false } = {},
): Promise<void> {
  const links = await queryPrefix(table, computationKeys.partition(id), computationKeys.prefixes.part);
  await inParallel(
    links.filter((item) => 'asset_id' in item),
    async (link) => {
      const transaction = new Transaction();
      removeFromLinked(transaction, String(link['asset_id']), { computation: computationNumber(id), version: lastVersion });
      await commitOnce(table, transaction);
    },
  );
  await removeRuns(table, { domain, id, deleted_as }, isLate);
}

/**
 * Snapshots may have 380 KB each, and a read of them must end before the deadline of an operation: so they are read in parts, and a
 * part is gone before the next is read.
 */
const runsAtOnce = 24;

async function removeRuns(table: Table, { domain, id, deleted_as }: ComputationPurge, isLate: boolean): Promise<void> {
  let deletedAs = deleted_as;
  for (;;) {
    const { snapshot } = runKeys.prefixes;
    const snapshots = await queryPrefix(table, runKeys.partition(id), snapshot, { limit: runsAtOnce, attributes: ['sk'] });
    const runIds = snapshots.map(({ sk }) => String(sk).slice(snapshot.length));
    if (isLate && runIds.length > 0) deletedAs = await whileLogged(table, { domain, id, deleted_as: deletedAs });
    await inParallel(runIds, async (runId) => {
      const key = runKey(domain, runId);
      const run = key && findRun(await getItem(table, key), runId);
      if (!run) return;
      const transaction = new Transaction();
      removeRun(transaction, domain, run, deletedAs);
      await commitOnce(table, transaction);
    });
    await deleteItems(
      table,
      runIds.map((runId) => runKeys.snapshot(id, runId)),
    );
    if (runIds.length < runsAtOnce) return;
  }
}

/** Returns the version of the deletion while that is in the log. A read that sees a run with a deletion that it misses begins again. */
async function whileLogged(table: Table, { domain, id, deleted_as }: ComputationPurge): Promise<number | undefined> {
  if (deleted_as === undefined) return undefined;
  const { index } = indexedLists.computations(domain);
  return (await isLogged(table, index, computationNumber(id), deleted_as)) ? deleted_as : undefined;
}

/** Removes everything that is left of a deleted computation. Safe to repeat and to interrupt. */
export async function purgeComputation(table: Table, purge: ComputationPurge): Promise<void> {
  await purgeListings(table, purge, { isLate: true });
  const uses = await queryPrefix(table, runKeys.partition(purge.id), runKeys.prefixes.use);
  await deleteItems(
    table,
    uses.map((use) => assetKeys.use(String(use['asset_id']), String(use['run_id']))),
  );
  await deleteItems(table, mirrorsOf(purge, await queryPartition(table, computationKeys.partition(purge.id))));
  await deletePartition(table, computationKeys.partition(purge.id));
  await deletePartition(table, journalKeys.partition(purge.id));
  await deletePartition(table, runKeys.partition(purge.id));
}

/** Commits a removal. If its condition fails, an interrupted purge has done it before. */
async function commitOnce(table: Table, transaction: Transaction): Promise<void> {
  try {
    await transaction.commit(table);
  } catch (error) {
    if (!(error instanceof ConditionFailedError)) throw error;
  }
}

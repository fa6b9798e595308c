import * as v from 'valibot';
import { computationNumber } from '../computations/find-computation.ts';
import { removeFromLinked } from '../links/linked-list.ts';
import { lastVersion } from '../lists/log.ts';
import { removeRun } from '../runs/change-run.ts';
import { findRun, runKey } from '../computations/read-run.ts';
import type { Run } from '../computations/run.ts';
import { assetKeys, computationKeys, journalKeys, runKeys } from '../table/keys.ts';
import { getItems, queryPartition, queryPrefix, type Table } from '../table/table.ts';
import { deleteItems } from '../table/writes.ts';
import { ConditionFailedError, Transaction } from '../table/transaction.ts';
import { mirrorsOf } from '../todo/mirrors.ts';
import { partitionInParts } from './delete-partition.ts';
import { inParallel } from '../in-parallel.ts';
import { doAllParts, inChunks, type InParts } from './parts.ts';

export const computationPurge = v.object({
  domain: v.string(),
  id: v.string(),
  /** The computation's version when it was deleted. Earlier versions of the service did not record it. */
  deleted_as: v.optional(v.number()),
  /** The owner when it was deleted. Earlier versions of the service did not record it. */
  owner: v.optional(v.string()),
});
export type ComputationPurge = v.InferOutput<typeof computationPurge>;

/** Removes the links and runs of a deleted computation from their lists, where readers could still see them. Links first: they are few. */
export async function purgeListings(table: Table, purge: ComputationPurge): Promise<void> {
  await doAllParts(listingsInParts(table, purge));
}

async function* listingsInParts(table: Table, { domain, id, deleted_as }: ComputationPurge): InParts {
  const links = await queryPrefix(table, computationKeys.partition(id), computationKeys.prefixes.part);
  await inParallel(
    links.filter((item) => 'asset_id' in item),
    async (link) => {
      const transaction = new Transaction();
      removeFromLinked(transaction, String(link['asset_id']), { computation: computationNumber(id), version: lastVersion });
      await commitOnce(table, transaction);
    },
  );
  yield* runsInParts(table, { domain, id, deleted_as });
}

/**
 * Snapshots may have 380 KB each, and a read of them must end before the deadline of an operation: so they are read in parts, and a
 * part is gone before the next is read.
 */
const runsAtOnce = 24;
const itemsPerPart = 100;

async function* runsInParts(table: Table, { domain, id, deleted_as }: ComputationPurge): InParts {
  for (;;) {
    const { snapshot } = runKeys.prefixes;
    const snapshots = await queryPrefix(table, runKeys.partition(id), snapshot, { limit: runsAtOnce, attributes: ['sk'] });
    const runIds = snapshots.map(({ sk }) => String(sk).slice(snapshot.length));
    await removeRuns(table, await readRuns(table, domain, runIds), { domain, deleted_as });
    await deleteItems(
      table,
      runIds.map((runId) => runKeys.snapshot(id, runId)),
    );
    if (runIds.length < runsAtOnce) return;
    yield;
  }
}

async function readRuns(table: Table, domain: string, ids: readonly string[]): Promise<Run[]> {
  const found = ids.map((id) => ({ id, key: runKey(domain, id) })).filter(({ key }) => key !== undefined);
  const rows = await getItems(
    table,
    found.flatMap(({ key }) => key ?? []),
  );
  return found.flatMap(({ id }, at) => findRun(rows[at], id) ?? []);
}

type OfDeleted = Pick<ComputationPurge, 'domain' | 'deleted_as'>;

/** Removes runs in one transaction. Alone, if another purge has removed one of them since they were read. */
async function removeRuns(table: Table, runs: readonly Run[], ofDeleted: OfDeleted): Promise<void> {
  const { domain, deleted_as } = ofDeleted;
  if (runs.length === 0) return;
  const transaction = new Transaction();
  for (const run of runs) removeRun(transaction, domain, run, deleted_as);
  if ((await commitOnce(table, transaction)) || runs.length === 1) return;
  await inParallel(runs, (run) => removeRuns(table, [run], ofDeleted));
}

/** Removes everything that is left of a deleted computation. Safe to repeat and to interrupt. */
export async function* computationInParts(table: Table, purge: ComputationPurge): InParts {
  yield* listingsInParts(table, purge);
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

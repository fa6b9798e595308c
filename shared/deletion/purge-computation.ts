import * as v from 'valibot';
import { computationNumber } from '../computations/find-computation.ts';
import { removeFromLinked } from '../links/linked-list.ts';
import { lastVersion } from '../lists/log.ts';
import { removeRun } from '../runs/change-run.ts';
import { findRun, runKey } from '../computations/read-run.ts';
import { assetKeys, computationKeys, journalKeys, runKeys } from '../table/keys.ts';
import { getItem, queryPartition, queryPrefix, type Table } from '../table/table.ts';
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
    await inParallel(runIds, async (runId) => {
      const key = runKey(domain, runId);
      const run = key && findRun(await getItem(table, key), runId);
      if (!run) return;
      const transaction = new Transaction();
      removeRun(transaction, domain, run, deleted_as);
      await commitOnce(table, transaction);
    });
    await deleteItems(
      table,
      runIds.map((runId) => runKeys.snapshot(id, runId)),
    );
    if (runIds.length < runsAtOnce) return;
    yield;
  }
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

/** Commits a removal. If its condition fails, an interrupted purge has done it before. */
async function commitOnce(table: Table, transaction: Transaction): Promise<void> {
  try {
    await transaction.commit(table);
  } catch (error) {
    if (!(error instanceof ConditionFailedError)) throw error;
  }
}

import { lastVersion } from 'computation-management-counted-list';
import * as v from 'valibot';
import { shownAssetTypes } from 'computation-management-formats/vocabulary';
import { deleteContent, type ContentStore } from '../rows/content-store.ts';
import { type Run, readRuns } from '../rows/run.ts';
import { inParallel } from '../runtime/in-parallel.ts';
import { deleteAssetIn, assetKey, findAsset } from '../rows/asset.ts';
import { removeRun } from '../rows/change-run.ts';
import { computationKeys, listKeys, lists, purgeKeys, runKeys, writableKey } from '../table/keys.ts';
import { clockOf, type Table, getItem, type Item, queryPrefix } from '../table/table.ts';
import { openList, rowLists } from '../table/row-lists.ts';
import { isDone, Transaction, writeFresh } from '../table/transaction.ts';
import { deleteItems, deleteItemsOf } from '../table/writes.ts';
import { belongingsOfAsset, belongingsOfComputation, deleteInParts } from './belongings.ts';
import { removeFromLinked, unlinkDeletedAsset } from '../rows/link.ts';
import { parseStored } from '../table/stored.ts';
import { computationNumber } from '../rows/computation.ts';

/** Work that stops after each part, so that other work can take turns with it. It may be left unfinished and begun again. */
export type InParts<Result = void> = AsyncGenerator<undefined, Result>;

const computationPurge = v.object({ domain: v.string(), id: v.string() });
/** The record of the deletion of a computation, from which its purge knows what to delete. */
export type ComputationPurge = v.InferOutput<typeof computationPurge>;

const assetPurge = v.object({
  domain: v.string(),
  id: v.string(),
  file_name: v.string(),
  asset_type: v.picklist(shownAssetTypes),
  content_key: v.nullable(v.string()),
  upload_key: v.nullable(v.string()),
  unread_key: v.optional(v.nullable(v.string())),
  by: v.string(),
});
/** The record of the deletion of an asset, from which its purge knows what to delete. `by` is the user who deleted it. */
type AssetPurge = v.InferOutput<typeof assetPurge>;

/**
 * Deletes everything that a deleted computation or asset has left, and then the record of the purge. Safe to repeat and to
 * interrupt.
 * @returns whether the purge is over. False while background work on the list of an asset's links, begun before, may still write
 *   to it
 */
export async function* purgeInParts(table: Table, store: ContentStore, record: Item): InParts<boolean> {
  if (String(record['sk']).startsWith(purgeKeys.prefixes.asset)) {
    const purge = parseStored(assetPurge, record, 'purge of an asset');
    yield* linksInParts(table, purge);
    yield* deleteInParts(table, belongingsOfAsset(table, purge.id));
    for (const key of [purge.content_key, purge.upload_key, purge.unread_key]) if (key) await deleteContent(store, key);
    // After the log is deleted: a fold that begins later finds nothing to do.
    if (await openList(table, rowLists.linkedComputations(purge.id)).isMarked()) return false;
  } else {
    const purge = parseStored(computationPurge, record, 'purge of a computation');
    yield* listingsInParts(table, purge);
    yield* deleteInParts(table, belongingsOfComputation(table, purge.id));
  }
  await deleteItems(table, [writableKey(String(record['pk']), String(record['sk']))]);
  return true;
}

/** Deletes the results of the runs of a deleted computation, 24 in a part. Their contents are left to purges of their own. */
async function* resultsInParts(table: Table, domain: string, notes: Item[]): InParts {
  for (let start = 0; start < notes.length; start += runsAtOnce) {
    await inParallel(notes.slice(start, start + runsAtOnce), async (note) => {
      const id = String(note['asset_id']);
      await writeFresh(table, async (table, transaction) => {
        const asset = findAsset(await getItem(table, assetKey(domain, id)), id);
        if (asset) deleteAssetIn(transaction, domain, asset, asset.created_by);
      });
    });
    yield;
  }
}

/** Removes the links of a deleted asset from computations, where readers could still see them, and records an event for each. */
export async function purgeAssetLinks(table: Table, purge: AssetPurge): Promise<void> {
  await doAllParts(linksInParts(table, purge));
}

const linksPerPart = 80;

/** Removes the links of a deleted asset from computations, 80 in a part. */
async function* linksInParts(table: Table, purge: AssetPurge): InParts {
  const links = await queryPrefix(table, lists.linkedComputations(purge.id).pk, listKeys.prefixes.row);
  const unlink = async (link: Item) => {
    const now = new Date(clockOf(table).now()).toISOString();
    const { domain, by } = purge;
    await unlinkDeletedAsset(table, { domain, asset: purge, computationId: String(link['id']), by, now });
  };
  for (let start = 0; start < links.length; start += linksPerPart) {
    await inParallel(links.slice(start, start + linksPerPart), unlink);
    yield;
  }
}

/**
 * Removes a deleted computation from the lists of its assets, and its runs and their results from theirs, where readers could still
 * see them.
 */
export async function purgeListings(table: Table, purge: ComputationPurge): Promise<void> {
  await doAllParts(listingsInParts(table, purge));
}

/** Removes a deleted computation from the lists of its assets, then results and runs in parts. Links come first, because they are few. */
async function* listingsInParts(table: Table, { domain, id }: ComputationPurge): InParts {
  const [links, results] = await Promise.all([
    queryPrefix(table, computationKeys.partition(id), computationKeys.prefixes.part),
    queryPrefix(table, runKeys.partition(id), runKeys.prefixes.resultAsset),
  ]);
  await inParallel(
    links.filter((item) => 'asset_id' in item),
    async (link) => {
      const transaction = new Transaction();
      removeFromLinked(transaction, String(link['asset_id']), { computation: computationNumber(id), version: lastVersion });
      await isDone(transaction.commit(table)); // if not, another purge has done it
    },
  );
  yield* resultsInParts(table, domain, results);
  yield* runsInParts(table, { domain, id });
}

/**
 * The number of runs of a deleted computation that are removed together. Their snapshots may have 380 KB each, so no operation
 * reads all of them.
 */
const runsAtOnce = 24;

/** Removes the runs of a deleted computation with their snapshots, 24 in a part. */
async function* runsInParts(table: Table, { domain, id }: ComputationPurge): InParts {
  for (;;) {
    const { snapshot } = runKeys.prefixes;
    const snapshots = await queryPrefix(table, runKeys.partition(id), snapshot, { limit: runsAtOnce, attributes: ['sk'] });
    const runIds = snapshots.map(({ sk }) => String(sk).slice(snapshot.length));
    await removeRuns(table, domain, await readRuns(table, domain, runIds));
    await deleteItemsOf(table, runIds, (runId) => runKeys.snapshot(id, runId));
    if (runIds.length < runsAtOnce) return;
    yield;
  }
}

/**
 * Removes runs of a deleted computation in one transaction, or each in its own if another purge has removed one of them since
 * they were read.
 */
async function removeRuns(table: Table, domain: string, runs: readonly Run[]): Promise<void> {
  if (runs.length === 0) return;
  const transaction = new Transaction();
  for (const run of runs) removeRun(transaction, domain, run);
  if ((await isDone(transaction.commit(table))) || runs.length === 1) return;
  await inParallel(runs, (run) => removeRuns(table, domain, [run]));
}

async function doAllParts(work: InParts): Promise<void> {
  while (!(await work.next()).done);
}

import type { Permitted } from '../http/caller.ts';
import {
  type StoredAsset,
  deleteAssetIn,
  isMarkedForDeletion,
  markForDeletion,
  removeDeletionMark,
  readAssetToChange,
} from '../rows/asset.ts';
import { changeInputs } from '../rows/change-computation.ts';
import { isActive, type Run, readRun } from '../rows/run.ts';
import { readRows } from './linked-computations.ts';
import { usesAsset } from '../rows/run-snapshot.ts';
import { readClaimsOfDomain } from '../rows/claim.ts';
import { readComputation } from '../rows/computation.ts';
import { conflict, preconditionFailed, resultConflict } from '../runtime/errors.ts';
import { assetKeys } from '../table/keys.ts';
import { deadlineOf, type Table, queryPartition } from '../table/table.ts';
import { commitChange, type UserRequest, type Committed, Transaction, withFreshReads } from '../table/transaction.ts';
import { beginPurge, purgeAssetLinks } from '../deletion/index.ts';
import { readLinkedIds } from '../rows/link.ts';

interface DeleteRequest extends UserRequest {
  id: string;
  /** Checks the access of the caller. `owner` is the owner of the computation if the asset is the result of a run. */
  permit: (asset: StoredAsset, owner?: string) => Permitted;
  matchesIfMatch?: ((asset: StoredAsset) => boolean) | undefined;
}

const linksPerTransaction = 90;

/**
 * Deletes an asset, which disappears from all reads at once. Its links and content are purged afterwards.
 * @throws ServiceError `not_found`; `conflict` if an active run uses the asset; `precondition_failed`
 */
export async function deleteAsset(table: Table, request: DeleteRequest): Promise<Committed<Deleted>> {
  const deleted = (await deleteUnlessLinkedWidely(table, request)) ?? (await deleteLinkedWidely(table, request));
  const { purge } = deleted;
  await beginPurge(table, (table) => purgeAssetLinks(table, purge));
  return deleted;
}

/** Reads, for the result of a run, the owner of its computation, and whether it is released. Other assets count as released. */
async function readResultOf(table: Table, domain: string, { result_of }: StoredAsset) {
  if (!result_of) return { isReleased: true };
  const { computation_id, run_id } = result_of;
  const [{ owner }, run] = await Promise.all([readComputation(table, domain, computation_id), readRun(table, domain, run_id)]);
  return { owner, isReleased: run?.result?.state === 'released' };
}

interface Deleted {
  purge: ReturnType<typeof deleteAssetIn>;
  permitted: Permitted;
}

/**
 * Deletes an asset with up to 90 links in one transaction, which also changes the version of every linked computation.
 * @returns undefined if the asset has more links
 */
async function deleteUnlessLinkedWidely(table: Table, request: DeleteRequest): Promise<Committed<Deleted> | undefined> {
  const { domain, id, permit, matchesIfMatch } = request;
  return await withFreshReads(table, async (table) => {
    const asset = await readAssetToChange(table, domain, id);
    const { owner, isReleased } = await readResultOf(table, domain, asset);
    const permitted = permit(asset, owner);
    if (!isReleased) throw resultConflict('can be deleted after its release');
    const linked = await readLinkedIds(table, id, { limit: linksPerTransaction + 1 });
    if (linked.length > linksPerTransaction) return undefined;
    await refuseWhileUsed(table, domain, id);
    const computations = await readRows(table, domain, linked);
    for (const { status, run } of computations) if (run && isActive(status)) await refuseIfUsedBy(table, run, id);
    if (matchesIfMatch && !matchesIfMatch(asset)) throw preconditionFailed();
    const transaction = new Transaction();
    const purge = deleteAssetIn(transaction, domain, asset, request.by);
    for (const row of computations) changeInputs(transaction, { domain, row }, { addedDatasets: 0 });
    return await commitChange(table, transaction, { purge, permitted }, request.answerKeeper);
  });
}

/**
 * Deletes an asset with more than 90 links. First marks the asset as being deleted, then looks for active runs. A run that it
 * does not find has not begun its first step, which removes the mark and so makes this deletion fail, or finds the asset deleted
 * and ends the run.
 */
async function deleteLinkedWidely(table: Table, request: DeleteRequest): Promise<Committed<Deleted>> {
  const { domain, id, now, permit, matchesIfMatch } = request;
  await request.answerKeeper?.refuseRepeat();
  permit(await readAssetToChange(table, domain, id));
  const marked: { asset?: StoredAsset } = {};
  try {
    return await withFreshReads(table, async (table) => {
      const found = await readAssetToChange(table, domain, id);
      const permitted = permit(found);
      const asset = isMarkedForDeletion(found, now) ? found : (marked.asset = await markForDeletion(table, domain, found, now));
      await refuseWhileUsed(table, domain, id);
      await refuseWhileLinkedOnesRun(table, domain, id);
      if (matchesIfMatch && !matchesIfMatch(asset)) throw preconditionFailed();
      const transaction = new Transaction();
      const purge = deleteAssetIn(transaction, domain, asset, request.by);
      return await commitChange(table, transaction, { purge, permitted }, request.answerKeeper);
    });
  } catch (error) {
    const deadline = deadlineOf(table).next(); // the request's may be over
    const removing = marked.asset && removeDeletionMark({ ...table, deadline: () => deadline }, domain, marked.asset);
    await removing?.catch(() => undefined); // the mark expires
    throw error;
  }
}

/** Throws if an active run of a linked computation uses the asset. @throws ServiceError `conflict` */
async function refuseWhileLinkedOnesRun(table: Table, domain: string, assetId: string): Promise<void> {
  const claims = await readClaimsOfDomain(table, domain);
  const linked = new Set(claims.length > 0 ? await readLinkedIds(table, assetId) : []);
  const ofLinked = claims.filter(({ computation_id }) => linked.has(computation_id));
  for (const { computation_id, run_id } of ofLinked) await refuseIfUsedBy(table, { computation_id, id: run_id }, assetId);
}

/**
 * Throws if an active run was started with the asset that is to be deleted. A run whose computation was linked to the asset only
 * later does not use it.
 * @throws ServiceError `conflict`
 */
async function refuseIfUsedBy(table: Table, run: Pick<Run, 'id' | 'computation_id'>, assetId: string): Promise<void> {
  if (!(await usesAsset(table, { computation_id: run.computation_id, run_id: run.id }, assetId))) return;
  throw conflict('asset_in_use', 'An active run uses the asset. Wait until it ends, or stop it.', run.id); // defence
}

/**
 * Throws if one of the active runs that are recorded with an asset uses it, so that it cannot be deleted.
 * @throws ServiceError `conflict`
 */
async function refuseWhileUsed(table: Table, domain: string, id: string): Promise<void> {
  const uses = await queryPartition(table, assetKeys.uses(id));
  for (const use of uses) {
    const run = await readRun(table, domain, String(use['run_id']));
    if (run && isActive(run.status)) await refuseIfUsedBy(table, run, id);
  }
}

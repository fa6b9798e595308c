import type { Permitted } from '../access/caller.ts';
import type { StoredAsset } from '../assets/asset.ts';
import { removeAsset } from '../assets/change-asset.ts';
import { readAssetToChange } from '../assets/read-asset.ts';
import { changeInputs } from '../computations/change-computation.ts';
import { isActive } from '../computations/run.ts';
import { conflict, preconditionFailed, type ServiceError } from '../errors.ts';
import { readLinkedComputations } from '../links/linked-computations.ts';
import { unlinkAsset } from '../links/unlink-asset.ts';
import { readRun } from '../runs/read-run.ts';
import { commitChange, refuseRepeat, withoutAnswer, type Kept } from '../table/commit-change.ts';
import { assetKeys, purgeKeys } from '../table/keys.ts';
import { queryPartition, type Table } from '../table/table.ts';
import { Transaction, withFreshReads } from '../table/transaction.ts';
import { beginPurge } from './begin-purge.ts';
import { purgeAssetLinks, type AssetPurge } from './purge-asset.ts';

interface DeleteRequest {
  domain: string;
  id: string;
  by: string;
  /** RFC 3339, UTC, milliseconds. */
  now: string;
  /** Called with the current asset. Throws to refuse the request. */
  permit: (asset: StoredAsset) => Permitted;
  /** Returns whether the request's If-Match names this state. Omit without the header. */
  isNamed?: ((asset: StoredAsset) => boolean) | undefined;
}

/** The number of links that fit into the transaction that deletes the asset. Further links are removed before it. */
const linksPerTransaction = 90;

/**
 * Deletes an asset. It disappears from all reads at once; its links and content are purged afterwards.
 * @throws ServiceError `not_found`; `conflict` if an active run uses it; `precondition_failed`
 */
export async function deleteAsset(table: Table, request: DeleteRequest): Promise<Kept<Deleted>> {
  const { deadline: _, ...patient } = table; // for work that is divided: a deadline for each part
  let deleted = await deleteUnlessLinkedWidely(table, request);
  while (deleted.surplus) {
    await refuseRepeat(patient);
    const { domain, id: assetId, by, now, permit } = request;
    for (const computationId of deleted.surplus) {
      await unlinkAsset(withoutAnswer(patient), { domain, assetId, computationId, by, now, permit });
    }
    deleted = await deleteUnlessLinkedWidely(patient, request);
  }
  const { purge } = deleted;
  await beginPurge(table, (table) => purgeAssetLinks(table, purge));
  return deleted;
}

interface Deleted {
  purge: AssetPurge;
  permitted: Permitted;
}

/** The computations whose links do not fit into the transaction. Nothing was deleted. */
interface LinkedWidely {
  surplus: string[];
}

async function deleteUnlessLinkedWidely(
  table: Table,
  request: DeleteRequest,
): Promise<(Kept<Deleted> & { surplus?: never }) | LinkedWidely> {
  const { domain, id, by, now, permit, isNamed } = request;
  return await withFreshReads(table, async (table) => {
    const asset = await readAssetToChange(table, domain, id);
    const permitted = permit(asset);
    await refuseWhileUsed(table, domain, id);
    const computations = await readLinkedComputations(table, domain, id);
    for (const { status, run } of computations) if (isActive(status)) throw inUse(run?.id);
    if (isNamed && !isNamed(asset)) throw preconditionFailed();
    if (computations.length > linksPerTransaction) {
      return { surplus: computations.slice(linksPerTransaction).map((computation) => computation.id) };
    }
    const purge: AssetPurge = {
      domain,
      id,
      file_name: asset.file_name,
      asset_type: asset.asset_type,
      content_key: asset.content_key,
      upload_key: asset.upload_key,
      by,
      at: now,
    };
    const transaction = new Transaction();
    removeAsset(transaction, domain, asset);
    transaction.add({ put: { Item: { ...purgeKeys.purge('asset', id), ...purge } } });
    for (const row of computations) changeInputs(transaction, { domain, row }, { addedDatasets: 0 });
    return await commitChange(table, transaction, { purge, permitted });
  });
}

function inUse(runId: string | undefined): ServiceError {
  return conflict('asset_in_use', 'An active run uses the asset; wait for its end, or stop it.', runId);
}

/** Refuses to delete an asset that was unlinked but is still used by an active run. @throws ServiceError `conflict` */
async function refuseWhileUsed(table: Table, domain: string, id: string): Promise<void> {
  const uses = await queryPartition(table, assetKeys.uses(id));
  for (const use of uses) {
    const run = await readRun(table, domain, String(use['run_id']));
    if (run && isActive(run.status)) throw inUse(run.id);
  }
}

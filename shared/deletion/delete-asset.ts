import type { Permitted } from '../access/caller.ts';
import { computationKey, parseComputation } from '../computations/read-computation.ts';
import { conflict } from '../errors.ts';
import { unlinkAsset } from '../links/unlink-asset.ts';
import { beginPurge } from './begin-purge.ts';
import { purgeAssetLinks } from './purge-asset.ts';
import { isActive } from '../computations/run.ts';
import { readRun } from '../runs/read-run.ts';
import { assetKeys, listKeys, lists, purgeKeys } from '../table/keys.ts';
import { removeFromList } from '../table/listing.ts';
import { getItems, queryPartition, queryPrefix, type Table } from '../table/table.ts';
import { StaleReadError, transact, withFreshReads } from '../table/transaction.ts';
import type { StoredAsset } from '../assets/asset.ts';
import { assetKey, assetNumber, readAsset } from '../assets/read-asset.ts';

/** So many links fit into the transaction that deletes the asset; those beyond are taken away before it. */
const mostLinksAtOnce = 90;

/**
 * Deletes an asset: it is gone from every read at once; its links and content are purged behind it.
 * @param permit called with the asset as it is; throws to refuse
 * @throws ServiceError `not_found`; `conflict` while an active run uses it
 */
export async function deleteAsset(
  table: Table,
  domain: string,
  id: string,
  by: string,
  now: string,
  permit: (asset: StoredAsset) => Permitted,
): Promise<Permitted> {
  const { purge, permitted } = await withFreshReads(table, async (table) => {
    const asset = await readAsset(table, domain, id);
    const permitted = permit(asset);
    await refuseWhileUsed(table, domain, id);
    const linked = await queryPrefix(table, lists.linkedComputations(id).pk, listKeys.prefixes.row);
    const ids = linked.map((row) => String(row['id']));
    const items = await getItems(
      table,
      ids.map((computationId) => computationKey(domain, computationId)),
    );
    const computations = ids.flatMap((computationId, index) =>
      items[index]?.['id'] === computationId ? [parseComputation(items[index], computationId)] : [],
    );
    for (const { status, run } of computations) if (isActive(status)) throw inUse(run?.id);
    if (computations.length > mostLinksAtOnce) {
      for (const { id: computationId } of computations.slice(mostLinksAtOnce)) {
        await unlinkAsset(table, { domain, assetId: id, computationId, by, now, permit });
      }
      throw new StaleReadError();
    }
    const { file_name, asset_type, content_key, upload_key } = asset;
    const marker = { domain, id, file_name, asset_type, content_key, upload_key, by, at: now };
    await transact(table, [
      {
        delete: {
          Key: assetKey(domain, id),
          ConditionExpression: 'id = :id AND version = :read',
          ExpressionAttributeValues: { ':id': id, ':read': asset.version },
        },
        otherwise: new StaleReadError(),
      },
      ...removeFromList(lists.assets(domain), assetNumber(id), asset_type),
      { put: { Item: { ...purgeKeys.purge('asset', id), ...marker } } },
      ...computations.map((computation) => ({
        update: {
          Key: computationKey(domain, computation.id),
          UpdateExpression: 'SET inputs_version = inputs_version + :one',
          ConditionExpression: 'id = :id AND #status = :status',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: { ':one': 1, ':id': computation.id, ':status': computation.status },
        },
        otherwise: new StaleReadError(),
      })),
    ]);
    return { purge: marker, permitted };
  });
  await beginPurge(purgeAssetLinks(table, purge));
  return permitted;
}

function inUse(runId: string | undefined) {
  return conflict('asset_in_use', 'An active run uses the asset; wait for its end, or stop it.', runId);
}

/** Unlinked since, but part of a run that goes on. */
async function refuseWhileUsed(table: Table, domain: string, id: string): Promise<void> {
  const uses = await queryPartition(table, assetKeys.uses(id));
  for (const use of uses) {
    const run = await readRun(table, domain, String(use['run_id']));
    if (run && isActive(run.status)) throw inUse(run.id);
  }
}

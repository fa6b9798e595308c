import type { Permitted } from '../access/caller.ts';
import { linkKey } from './link-keys.ts';
import { changeInputs, refuseBeyondLimit } from './link-asset.ts';
import { conflict } from '../errors.ts';
import { readOptionalKey } from '../keys/read-public-key.ts';
import { computationKey, parseComputation } from '../computations/read-computation.ts';
import { listKeys, lists } from '../table/keys.ts';
import { moveInList } from '../table/listing.ts';
import { getItems, queryPrefix, type Table } from '../table/table.ts';
import { StaleReadError, transact, withFreshReads, type Action } from '../table/transaction.ts';
import type { Asset, AssetInput, StoredAsset } from '../assets/asset.ts';
import { decodeContent, matchChecksum, type InlineContent } from '../assets/content-input.ts';
import { dropContentCheck, putContentCheck } from '../assets/content-check.ts';
import { presignUpload, type ContentStore } from '../assets/content-store.ts';
import { assetKey, assetNumber, readAsset } from '../assets/read-asset.ts';
import { writeContent, type WrittenContent } from '../assets/write-content.ts';

interface Replacement extends Omit<AssetInput, 'checksum'> {
  checksum?: string | null | undefined;
}

/** A name or type changes in every computation that the asset is linked to, in one transaction of at most 100 actions. */
const mostLinksOfARename = 30;

/**
 * Replaces an asset. New content goes under a new name, so what was there stays whole for those who read it now; the collector
 * removes it later.
 * @param permit called with the asset as it is; throws to refuse
 * @throws ServiceError `not_found`, `invalid_request`, `too_large`, `conflict` where a name or type does not fit a computation
 */
export async function updateAsset(
  table: Table,
  store: ContentStore,
  domain: string,
  id: string,
  given: Replacement,
  now: string,
  permit: (asset: StoredAsset) => Permitted,
): Promise<{ asset: Asset; permitted: Permitted }> {
  let written: WrittenContent | undefined;
  const { row, permitted } = await withFreshReads(table, async (table) => {
    const current = await readAsset(table, domain, id);
    const permitted = permit(current);
    const user_key = readOptionalKey(given.user_key, '/asset/user_key');
    const content = changedContent(given, current);
    if (content) written ??= await writeContent(table, store, { domain, id }, content, now);
    const { file_name, description, asset_type, mime_type } = given;
    const next: StoredAsset = {
      ...current,
      ...{ file_name, description, asset_type, mime_type, user_key, updated_at: now, version: current.version + 1 },
      ...(content && written ? written.fields : { checksum: given.checksum ?? current.checksum }),
    };
    const isRenamed = current.file_name !== file_name || current.asset_type !== asset_type;
    await transact(table, [
      {
        put: {
          Item: { ...assetKey(domain, id), ...next },
          ConditionExpression: 'id = :id AND version = :read',
          ExpressionAttributeValues: { ':id': id, ':read': current.version },
        },
        otherwise: new StaleReadError(),
      },
      ...moveInList(lists.assets(domain), assetNumber(id), current.asset_type, asset_type),
      ...(content && written ? [dropContentCheck(written.check)] : []),
      ...(content && current.content_key ? [putContentCheck(current.content_key, now)] : []),
      ...(next.upload_key ? [putContentCheck(next.upload_key, now)] : []),
      ...(isRenamed ? await renameLinks(table, domain, current, next) : []),
    ]);
    return { row: next, permitted };
  });
  const asset = row.upload_key === null ? row : { ...row, upload: await presignUpload(store, row.upload_key, now) };
  return { asset, permitted };
}

/** The content sent, unless it is what the asset has already and comes with the checksum that it has. */
function changedContent(given: Replacement, current: StoredAsset): InlineContent | undefined {
  if (given.asset === undefined) return undefined;
  const content = decodeContent(given.asset);
  const isTheSame = content.checksum === current.content_checksum && (given.checksum ?? content.checksum) === current.checksum;
  if (isTheSame) return undefined;
  matchChecksum(content, given.checksum);
  return content;
}

async function renameLinks(table: Table, domain: string, current: StoredAsset, next: StoredAsset): Promise<Action[]> {
  const links = await queryPrefix(table, lists.linkedComputations(current.id).pk, listKeys.prefixes.row, {
    limit: mostLinksOfARename + 1,
  });
  if (links.length > mostLinksOfARename) {
    throw conflict(
      'linked_too_widely',
      `The asset is linked to more than ${mostLinksOfARename} computations; its file_name and asset_type stay. Create another asset instead.`,
    );
  }
  const ids = links.map((link) => String(link['id']));
  const items = await getItems(table, [...ids.map((id) => computationKey(domain, id)), ...ids.map((id) => linkKey(id, current))]);
  return ids.flatMap((id, index) => {
    if (items[index]?.['id'] !== id) return [];
    const computation = parseComputation(items[index], id);
    const link = items[ids.length + index];
    if (link?.['asset_id'] !== current.id) throw new StaleReadError();
    const addedDatasets = datasets(next) - datasets(current);
    if (addedDatasets > 0) refuseBeyondLimit(computation);
    const from = linkKey(id, current);
    const to = linkKey(id, next);
    const refused =
      next.asset_type === 'algorithm'
        ? conflict('second_algorithm', `Computation ${id}, which the asset is linked to, has an algorithm already.`)
        : conflict(
            'file_name_taken',
            `Computation ${id}, which the asset is linked to, has a dataset named ${next.file_name} already.`,
          );
    const { file_name, asset_type } = next;
    const put = { Item: { ...link, ...to, file_name, asset_type } };
    return [
      ...(from.sk === to.sk
        ? [{ put }]
        : [
            { delete: { Key: from, ConditionExpression: 'attribute_exists(pk)' }, otherwise: new StaleReadError() },
            { put: { ...put, ConditionExpression: 'attribute_not_exists(pk)' }, otherwise: refused },
          ]),
      changeInputs(domain, computation, addedDatasets),
    ];
  });
}

const datasets = (asset: StoredAsset) => (asset.asset_type === 'dataset' ? 1 : 0);

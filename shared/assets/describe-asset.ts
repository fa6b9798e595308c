import * as v from 'valibot';
import { assetKeys } from '../table/keys.ts';
import { type Table, getItems, type Item } from '../table/table.ts';
import { putItem, updateExisting } from '../table/writes.ts';
import {
  type Asset,
  inlineLimitInBytes,
  isContentWithheld,
  type StoredAsset,
  storedAsset,
  type ContentRead,
  assetSchema,
  assetKey,
  parseAsset,
  readAsset,
  assertAssetExists,
} from '../rows/asset.ts';
import { contentCheckItem } from '../rows/content-check.ts';
import { emitMetric } from '../runtime/log.ts';
import { getContent, presignDownload, presignUpload, type ContentStore } from '../rows/content-store.ts';
import { resultType, type ShownAssetType } from 'computation-management-formats/vocabulary';
import { readPage } from '../table/read-page.ts';
import { rowLists } from '../table/row-lists.ts';
import { parseStored } from '../table/stored.ts';
import { etagOf } from '../http/etags.ts';
import { randomBytes } from 'node:crypto';
import { transact, StaleReadError, withFreshReads } from '../table/transaction.ts';

interface Request {
  domain: string;
  id: string;
  by: string;
  now: string;
  /**
   * Tells whether the client already has the version of the asset with the given ETag. Not called for an answer with a download
   * link, because the link expires.
   */
  isKnown?: ((etag: string) => boolean) | undefined;
  withoutContent?: boolean;
}

/**
 * Returns an asset with its content up to the inline limit, or a link to larger content, if the user may have it. The creator
 * also gets the list of reads by others. A read by another user is recorded before that user gets the content.
 * @throws ServiceError `not_found`, also if the asset is deleted meanwhile
 */
export async function describeAsset(
  table: Table,
  store: ContentStore,
  request: Request,
): Promise<{ etag: string; asset?: Asset }> {
  const { domain, id, by, now, isKnown, withoutContent = false } = request;
  const [row, reads] = await getItems(table, [assetKey(domain, id), assetKeys.contentReads(id)]);
  const asset = parseAsset(row, id);
  const isCreator = by === asset.created_by;
  const isWithheld = isContentWithheld(asset, by);
  const content_reads = isCreator ? parseContentReads(reads) : [];
  const etag = assetEtag(asset, content_reads);
  const { upload_key, upload_problem: problem } = asset;
  if (isCreator && upload_key !== null && problem) {
    await putItem(table, contentCheckItem(upload_key, `${now.slice(0, 13)}:59:59.999Z`)); // one for all reads of an hour
    return { etag, asset: { ...asset, content_reads, upload: { ...(await presignUpload(store, upload_key, now)), problem } } };
  }
  if ((isWithheld || !isLarge(asset)) && isKnown?.(etag)) return { etag };
  if (isWithheld) return { etag, asset: { ...asset, content_withheld: true } };
  const content = withoutContent ? undefined : await contentOf(table, store, domain, asset, now);
  if (isCreator) return { etag, asset: { ...asset, ...content, content_reads } };
  if (content) await recordContentRead(table, { domain, assetId: id, user: by, now }); // defence
  return { etag, asset: { ...asset, ...content } };
}

function isLarge({ content_key, size }: StoredAsset): boolean {
  return content_key !== null && size !== null && size > inlineLimitInBytes;
}

/**
 * Returns the content of an asset in base64, or a download link if the content is larger than the inline limit. Undefined if the
 * asset has no content in storage.
 * @throws Error if the content is missing in storage
 * @throws ServiceError `not_found` if the asset was deleted meanwhile
 */
async function contentOf(table: Table, store: ContentStore, domain: string, asset: StoredAsset, now: string) {
  const { id, content_key, file_name } = asset;
  if (content_key === null) return undefined;
  if (isLarge(asset)) return { download: await presignDownload(store, content_key, file_name, now) };
  const content = await getContent(store, content_key);
  if (!content) {
    await readAsset(table, domain, id);
    emitMetric('ContentMissing', 1);
    throw new Error('The content of an asset is missing in storage.');
  }
  return { asset: await content.transformToString('base64') };
}

/** Lists the assets of a domain, or its results of runs, newest first, with the exact total. See readPage for the round trips that it costs. */
export async function listAssets(
  table: Table,
  domain: string,
  request: { limit: number; offset: number; asset_type?: ShownAssetType | undefined },
): Promise<{ assets: StoredAsset[]; total: number }> {
  const { limit, offset, asset_type } = request;
  const page = { limit, offset };
  const { rows, total } = await (asset_type === resultType
    ? readPage(table, rowLists.results(domain), page)
    : readPage(table, rowLists.assets(domain), { ...page, state: asset_type }));
  return { assets: rows.map((row) => parseStored(storedAsset, row, 'asset')), total };
}

/**
 * Returns the ETag of an asset, the same in endpoints 15 (create), 17 (get) and 18 (replace). The key of the content stands for
 * the content, and presigned links do not count.
 * @param reads the reads of the content. They are a part of the ETag of their own, which If-Match does not compare
 */
export function assetEtag(asset: StoredAsset, reads: ContentRead[] = []): string {
  const { asset: _content, download: _download, upload: _upload, ...rest } = v.parse(assetSchema, asset);
  const { content_withheld: _withheld, content_reads: _reads, ...shown } = rest;
  const state = [shown, asset.content_key, ...(asset.upload_problem ? [asset.upload_problem] : [])];
  return reads.length === 0 ? etagOf(state) : etagOf(state, reads);
}

/**
 * The item that records who has read the content of an asset. It is separate from the asset, so that reads neither conflict with
 * changes of the asset nor change its version. The unique name of a read begins with its time in milliseconds since the epoch.
 */
const storedReads = v.object({ latest_reads: v.record(v.string(), v.string()) });

const readsShown = 100;

/**
 * The number of recorded reads of an asset's content above which the oldest are removed, 21 at a time, so that few reads cost a
 * second write.
 */
const readsStored = readsShown + 20;

/** Returns the names of recorded reads of an asset's content, oldest first. A name begins with the time of the read. */
function namesOf(reads: Record<string, string>): string[] {
  return Object.keys(reads).sort();
}

/** Lists the last 100 reads of the content of an asset, newest first, from the item that records them. */
export function parseContentReads(item: Item | undefined): ContentRead[] {
  if (!item) return [];
  const { latest_reads: reads } = parseStored(storedReads, item, "record of a content's reads");
  const latest = namesOf(reads).reverse().slice(0, readsShown);
  return latest.map((name) => ({ user: reads[name] ?? '', read_at: new Date(Number(name.split('-')[0])).toISOString() }));
}

interface Read {
  domain: string;
  assetId: string;
  user: string;
  now: string;
}

/**
 * Records that a user reads the content of an asset. Call it before the content is handed out. One write. The first read of an
 * asset takes an additional transaction, so that a read of an asset that is being deleted leaves nothing behind.
 * @throws ServiceError `not_found` if the asset has been deleted
 */
export async function recordContentRead(table: Table, { domain, assetId, user, now }: Read): Promise<void> {
  const key = assetKeys.contentReads(assetId);
  const name = `${Date.parse(now)}-${randomBytes(4).toString('base64url')}`;
  await withFreshReads(table, async (table) => {
    const item = await updateExisting(table, key, {
      UpdateExpression: 'SET latest_reads.#read = :user',
      ExpressionAttributeNames: { '#read': name },
      ExpressionAttributeValues: { ':user': user },
    });
    if (item) return await removeOldest(table, assetId, item);
    const put = { Item: { ...key, latest_reads: { [name]: user } }, ConditionExpression: 'attribute_not_exists(pk)' };
    await transact(table, [assertAssetExists(domain, assetId), { put, otherwise: StaleReadError }]);
  });
}

async function removeOldest(table: Table, assetId: string, item: Item): Promise<void> {
  const names = namesOf(parseStored(storedReads, item, "record of a content's reads").latest_reads);
  if (names.length <= readsStored) return;
  const oldest = names.slice(0, names.length - readsShown);
  await updateExisting(table, assetKeys.contentReads(assetId), {
    UpdateExpression: `REMOVE ${oldest.map((_, index) => `latest_reads.#read${index}`).join(', ')}`,
    ExpressionAttributeNames: Object.fromEntries(oldest.map((name, index) => [`#read${index}`, name])),
  });
}

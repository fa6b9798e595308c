import { createHash } from 'node:crypto';
import { laterOf } from 'computation-management-formats/timestamps';
import { type Table, getItem } from '../table/table.ts';
import { Transaction, withFreshReads } from '../table/transaction.ts';
import { putItem } from '../table/writes.ts';
import { emitMetric, log } from '../runtime/log.ts';
import type { Asset, StoredAsset } from '../rows/asset.ts';
import { changeAsset } from '../rows/change-asset.ts';
import { contentCheckItem, isDueWithin, putContentCheck } from '../rows/content-check.ts';
import {
  type ContentStore,
  deleteContent,
  getContent,
  linkLifetimeInSeconds,
  ownerOfContent,
  presignUpload,
  uploadKey,
} from '../rows/content-store.ts';
import { assetKey, findAsset } from '../rows/read-asset.ts';

const problemOfRead =
  'The content arrived, but storage could not give it back completely. Upload it again. Until then, the service tries again.';

/** Tells whether an asset expects an upload to the given key in storage. */
const awaits = ({ upload_key, unread_key }: StoredAsset, key: string) =>
  upload_key !== null && (upload_key === key || unread_key === key);

/**
 * Receives uploaded content: reads it as a stream to hash it, and sets its asset to `ready`. Deletes the content if no asset
 * expects it. Safe to repeat.
 * @param isReported whether storage has reported that the content arrived
 * @returns whether the content is still awaited
 * @throws what storage throws. If the content has arrived, its asset then says so to its creator and takes another upload
 */
export async function receiveUpload(
  table: Table,
  store: ContentStore,
  key: string,
  now: string,
  { isReported }: { isReported: boolean } = { isReported: true },
): Promise<boolean> {
  const owner = ownerOfContent(key);
  if (!owner) return false;
  const rowKey = assetKey(owner.domain, owner.assetId);
  const asset = findAsset(await getItem(table, rowKey), owner.assetId);
  if (asset?.content_key === key) return false;
  if (!asset || !awaits(asset, key)) {
    await deleteContent(store, key);
    return false;
  }
  let content: Awaited<ReturnType<typeof hashContent>>;
  try {
    content = await hashContent(store, key).catch(() => hashContent(store, key));
  } catch (error) {
    if (isReported || asset.unread_key === key) emitMetric('UploadsFailed', 1);
    if (isReported) await expectAnother(table, { ...owner, key, now });
    throw error;
  }
  if (!content) return true;
  const { size, checksum } = content;
  await withFreshReads(table, async (table) => {
    const pending = findAsset(await getItem(table, rowKey), owner.assetId);
    if (!pending || !awaits(pending, key)) return;
    const transaction = new Transaction();
    const updated_at = laterOf(pending.updated_at, now);
    changeAsset(transaction, owner.domain, pending, {
      state: 'ready',
      size,
      checksum: pending.checksum ?? checksum,
      content_key: key,
      content_checksum: checksum,
      upload_key: null,
      ...(pending.unread_key && { unread_key: null, upload_problem: null }),
      updated_at,
      ...(pending.checksum === null && { changed_at: { ...pending.changed_at, checksum: updated_at } }),
    });
    await transaction.commit(table);
  });
  return false;
}

/**
 * Logs an error and emits the metric ContentMissing if an asset still has the content that was deleted from storage. The service
 * itself deletes content only after its asset no longer refers to it.
 */
export async function reportDeletion(table: Table, key: string): Promise<void> {
  const owner = ownerOfContent(key);
  if (!owner) return;
  const asset = findAsset(await getItem(table, assetKey(owner.domain, owner.assetId)), owner.assetId);
  if (asset?.content_key !== key && asset?.unread_key !== key) return;
  log('ERROR', 'The content of an asset was deleted from storage.', { domain: owner.domain, asset_id: owner.assetId, key });
  emitMetric('ContentMissing', 1);
}

/**
 * Lets the creator of an asset upload its content again, because storage could not give the content back, and records the problem
 * with the asset.
 */
async function expectAnother(
  table: Table,
  { domain, assetId, key, now }: { domain: string; assetId: string; key: string; now: string },
): Promise<void> {
  const upload_key = uploadKey(domain, assetId);
  await withFreshReads(table, async (table) => {
    const pending = findAsset(await getItem(table, assetKey(domain, assetId)), assetId);
    if (pending?.upload_key !== key) return;
    const transaction = new Transaction();
    changeAsset(transaction, domain, pending, { upload_key, unread_key: key, upload_problem: problemOfRead });
    for (const each of [key, upload_key]) transaction.add(putContentCheck(each, now));
    await transaction.commit(table);
  });
}

/**
 * Computes the SHA3-256 and the size of content in storage, which it reads as a stream. Undefined if storage has no such content.
 */
async function hashContent(store: ContentStore, key: string): Promise<{ checksum: string; size: number } | undefined> {
  const content = await getContent(store, key);
  if (!content) return undefined;
  const hash = createHash('sha3-256');
  let size = 0;
  for await (const chunk of content as AsyncIterable<Uint8Array>) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { checksum: hash.digest('hex'), size };
}

/**
 * Returns what a kept answer must remember of an asset's upload, so that renewUpload can renew the link: the key in storage, and
 * the time when the link was given.
 */
export function rememberUpload(
  { upload, upload_key }: Asset & Pick<StoredAsset, 'upload_key'>,
  given_at: string,
): Record<string, string> {
  return upload && upload_key !== null ? { upload_key, given_at } : {};
}

/**
 * Renews the upload link in an answer that was kept for repeats, for the content that the asset now expects. Also makes sure that
 * the service looks for the upload after the new link has expired.
 */
export async function renewUpload(
  table: Table,
  store: ContentStore,
  asset: Asset,
  { upload_key, given_at }: Record<string, string>,
  now: string,
): Promise<Asset> {
  const owner = ownerOfContent(upload_key ?? '');
  if (!owner || given_at === undefined) return asset;
  const awaited = findAsset(await getItem(table, assetKey(owner.domain, asset.id)), asset.id)?.upload_key;
  if (!awaited) return asset;
  const isChecked = awaited === upload_key && !isDueWithin(linkLifetimeInSeconds, given_at, now);
  if (!isChecked) await putItem(table, contentCheckItem(awaited, now));
  return { ...asset, upload: await presignUpload(store, awaited, now) };
}

import { createHash } from 'node:crypto';
import { laterOf } from 'computation-management-formats/timestamps';
import { type Asset, type StoredAsset, changeAsset, assetKey, findAsset } from '../rows/asset.ts';
import { keysToChange, parseToChange } from '../rows/change-computation.ts';
import { changeResult } from '../rows/change-run.ts';
import { findComputation } from '../rows/computation.ts';
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
import { findRun, runKey } from '../rows/run.ts';
import { emitMetric, log } from '../runtime/log.ts';
import { getItem, type Table } from '../table/table.ts';
import { readSettled, type Transaction, writeFresh } from '../table/transaction.ts';
import { putItem } from '../table/writes.ts';

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
    if (isReported) await expectAnother(table, { ...owner, key, now, problem: problemOfRead, unread_key: key });
    throw error;
  }
  if (!content) return true;
  const { size, checksum } = content;
  const problem = asset.result_of && otherFile(asset, asset.result_of, content);
  if (problem !== undefined) {
    await expectAnother(table, { ...owner, key, now, problem });
    await deleteContent(store, key);
    return false;
  }
  await writeFresh(table, async (table, transaction) => {
    const pending = findAsset(await getItem(table, rowKey), owner.assetId);
    if (!pending || !awaits(pending, key)) return;
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
    await submitResult(table, transaction, { domain: owner.domain, asset: pending, now });
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

/** Says how the content that was uploaded as a result differs from the file that was handed in. Undefined if it is that file. */
function otherFile(
  { checksum: handedIn }: StoredAsset,
  { size }: { size: number },
  content: { checksum: string; size: number },
): string | undefined {
  if (content.checksum === handedIn && content.size === size) return undefined;
  const text = (bytes: number, hash: string | null) => `${bytes} bytes with the SHA3-256 ${hash ?? ''}`;
  return `The uploaded file has ${text(content.size, content.checksum)}, but ${text(size, handedIn)} were handed in. Upload that file.`;
}

/** Content that arrived and could not be taken. */
interface NotTaken {
  domain: string;
  assetId: string;
  key: string;
  now: string;
  problem: string;
  /** The key in storage of content that the service tries to read again. Default: none */
  unread_key?: string | null;
}

/**
 * Lets the creator of an asset upload its content again, because the content that arrived could not be taken, and records the problem
 * with the asset.
 */
async function expectAnother(table: Table, { domain, assetId, key, now, problem, unread_key = null }: NotTaken): Promise<void> {
  const upload_key = uploadKey(domain, assetId);
  await writeFresh(table, async (table, transaction) => {
    const pending = findAsset(await getItem(table, assetKey(domain, assetId)), assetId);
    if (pending?.upload_key !== key) return;
    changeAsset(transaction, domain, pending, { upload_key, unread_key, upload_problem: problem });
    for (const each of [key, upload_key]) transaction.add(putContentCheck(each, now));
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

/**
 * Adds to the transaction in which the file of a result has arrived that the result is under review, with its event. Adds nothing
 * for other assets, and for a result in whose place another was handed in. One round trip for a result.
 */
async function submitResult(
  table: Table,
  transaction: Transaction,
  { domain, asset, now }: { domain: string; asset: StoredAsset; now: string },
): Promise<void> {
  const { id, result_of, created_by, file_name } = asset;
  if (!result_of) return;
  const keyOfRun = runKey(domain, result_of.run_id);
  const [row, head, runItem] = await readSettled(table, [...keysToChange(domain, result_of.computation_id), keyOfRun]);
  const run = findRun(runItem, result_of.run_id);
  const { result } = run ?? {};
  if (!run || !result || result.asset !== id || !findComputation(row, result_of.computation_id)) return;
  const computation = parseToChange(domain, result_of.computation_id, [row, head]);
  const { checksum, size } = result;
  await changeResult(table, transaction, computation, {
    run: { ...run, result },
    result: { ...result, state: 'under_review' },
    events: [{ event_type: 'result_submitted', originator: created_by, details: { asset: id, file_name, checksum, size } }],
    now,
  });
}

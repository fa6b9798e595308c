import { numberedId } from 'computation-management-formats/identifiers';
import { resultType } from 'computation-management-formats/vocabulary';
import { fetchedAfter, pendingContent } from '../assets/index.ts';
import { type StoredAsset, addAsset, removeAsset, assetKey, findAsset } from '../rows/asset.ts';
import { changeResult, noteResultAsset } from '../rows/change-run.ts';
import { putContentCheck } from '../rows/content-check.ts';
import { type ContentStore, presignUpload, uploadKey } from '../rows/content-store.ts';
import { conflict, ServiceError } from '../runtime/errors.ts';
import { lists } from '../table/keys.ts';
import { type Table, getItem } from '../table/table.ts';
import { type Transaction, makeChange } from '../table/transaction.ts';
import { nextNumber } from '../table/writes.ts';
import type { ResultInput } from './result-input.ts';
import { readReviewedRun, type ResultRequest } from './reviewed-run.ts';

/** The largest result, in bytes: 5 GiB, as of any content by presigned upload (docs/contract.md, section 7). */
const largestResultInBytes = 5 * 1024 ** 3;

/**
 * Hands in the result of a run: creates the asset that its file is uploaded to. Another file takes the place of one that was handed in
 * before, until the first decision. Four round trips.
 * @throws ServiceError `not_found`; `forbidden`; `too_large`; `conflict` if the run has not completed, or a reviewer has decided
 */
export async function handInResult(table: Table, store: ContentStore, request: ResultRequest & { given: ResultInput }) {
  const { domain, given, by, now, answerKeeper } = request;
  const { file_name, size, checksum } = given;
  return await makeChange(table, answerKeeper, async (table, transaction) => {
    const { computation, run, review, permitted } = await readReviewedRun(table, request);
    const { result } = run;
    if (size > largestResultInBytes) {
      throw new ServiceError('too_large', `The result has ${size} bytes. The limit is ${largestResultInBytes} bytes, 5 GiB.`);
    }
    if (result.decisions.length > 0) {
      const detail = 'A reviewer has decided on the file that was handed in, so no other file can take its place.';
      throw conflict('result_decided', detail, run.id);
    }
    await removeEarlier(table, transaction, { domain, run, now });
    const id = numberedId(await nextNumber(table, lists.assets(domain)));
    const upload_key = uploadKey(domain, id);
    const row: StoredAsset = {
      id,
      file_name,
      description: '',
      asset_type: resultType,
      mime_type: '',
      checksum,
      content_access: 'creator',
      use: 'open',
      ...fetchedAfter({}),
      ...pendingContent(upload_key),
      user_key: '',
      key: null,
      closing_until: null,
      version: 1,
      result_of: { computation_id: run.computation_id, run_id: run.id, size, readers: review.reviewers },
      created_by: by,
      created_at: now,
      updated_at: now,
    };
    addAsset(transaction, domain, row);
    noteResultAsset(transaction, run, id);
    transaction.add(putContentCheck(upload_key, now));
    const handedIn = { ...result, state: 'awaiting_file' as const, asset: id, checksum, size };
    await changeResult(table, transaction, computation, { run, result: handedIn, events: [], now });
    const asset = { ...row, upload: await presignUpload(store, upload_key, now) };
    return { asset, permitted };
  });
}

/**
 * Adds the removal of the asset that was handed in before to the transaction. Its content is deleted two hours later, and who has read it
 * with the computation.
 */
async function removeEarlier(
  table: Table,
  transaction: Transaction,
  { domain, run, now }: { domain: string; run: Parameters<typeof noteResultAsset>[1]; now: string },
): Promise<void> {
  const before = run.result?.asset;
  if (!before) return;
  const asset = findAsset(await getItem(table, assetKey(domain, before)), before);
  if (!asset) return;
  removeAsset(transaction, domain, asset);
  for (const key of [asset.content_key, asset.upload_key, asset.unread_key]) if (key) transaction.add(putContentCheck(key, now));
}

import { isSignatureOf } from 'computation-management-formats/approval-signature';
import { decisionText } from 'computation-management-formats/consent';
import { system } from 'computation-management-formats/vocabulary';
import { type StoredAsset, changeAsset, assetKey, findAsset } from '../rows/asset.ts';
import { changeResult } from '../rows/change-run.ts';
import { putExpiry } from '../rows/content-check.ts';
import { type ResultOfRun, withDecision } from '../rows/result.ts';
import { conflict, invalid } from '../runtime/errors.ts';
import { runKeys } from '../table/keys.ts';
import { type Table, getItem } from '../table/table.ts';
import { StaleReadError, makeChange } from '../table/transaction.ts';
import { readReviewedRun, type ResultRequest, type ReviewedRun } from './reviewed-run.ts';
import type { ResultDecisionInput } from './result-input.ts';

interface DecisionRequest extends ResultRequest {
  given: ResultDecisionInput;
  /** The days for which a released result is kept. */
  resultDays: number;
}

/**
 * Records the decision of a reviewer on the result of a run. The decision that is enough releases or withholds the result in the same
 * transaction. Three round trips.
 * @throws ServiceError `not_found`; `forbidden`; `conflict` if the file is not there or is another one, if the caller has decided, or
 *   if the result is released or withheld; `invalid_request` for a signature that is missing or not the caller's
 */
export async function decideResult(table: Table, request: DecisionRequest) {
  const { domain, given, resultDays, by, now, answerKeeper } = request;
  const { decision, checksum, note } = given;
  return await makeChange(table, answerKeeper, async (table, transaction) => {
    const reviewed = await readReviewedRun(table, request);
    const { computation, run, review, permitted } = reviewed;
    refuseDecision(run, given, by);
    const signed = await signatureOf(reviewed, request);
    const decided = { reviewer: by, decision, note, decided_at: now };
    const result = withDecision(run.result, review, decided);
    const { state } = result;
    const asset = await readFile(table, domain, run.result);
    const Item = { ...runKeys.decision(run.computation_id, run.id, by), ...decided, checksum, ...signed };
    transaction.add({ put: { Item, ConditionExpression: 'attribute_not_exists(pk)' }, otherwise: StaleReadError });
    const details = { asset: asset.id, checksum, decision, note, signed: signed.signature !== null };
    const isOver = state === 'released' || state === 'withheld';
    const outcome = { originator: system, details: { asset: asset.id, checksum } };
    await changeResult(table, transaction, computation, {
      run,
      result,
      events: [
        { event_type: 'result_decided', originator: by, details },
        ...(isOver ? [{ event_type: `result_${state}` as const, ...outcome }] : []),
      ],
      now,
    });
    if (state === 'released' && asset.result_of) {
      const readers = [...review.reviewers, ...review.consumers];
      changeAsset(transaction, domain, asset, { result_of: { ...asset.result_of, readers } });
      if (asset.content_key !== null) transaction.add(putExpiry(asset.content_key, resultDays, now));
    }
    return { run: { ...run, result }, permitted };
  });
}

function refuseDecision({ id, result }: ReviewedRun['run'], { checksum }: ResultDecisionInput, by: string): void {
  const { state, decisions } = result;
  if (decisions.some(({ reviewer }) => reviewer === by)) {
    throw conflict('already_decided', 'You have decided on this result. A decision is final.', id);
  }
  if (state === 'awaiting_file') {
    throw conflict('no_result', 'The file with the result has not arrived. A reviewer hands it in first.', id);
  }
  if (state !== 'under_review') throw conflict('result_decided', `The result is already ${state}.`, id);
  if (result.checksum !== checksum) {
    const handedIn = `Another file was handed in: its SHA3-256 is ${result.checksum ?? ''}. Review that file.`;
    throw conflict('other_file', handedIn, id);
  }
}

/** Reads the asset of a result on which a reviewer decides. @throws StaleReadError if another file has taken its place */
async function readFile(table: Table, domain: string, { asset: id }: ResultOfRun): Promise<StoredAsset> {
  const asset = id === null ? undefined : findAsset(await getItem(table, assetKey(domain, id)), id);
  if (!asset) throw new StaleReadError();
  return asset;
}

/**
 * Verifies the signature of a decision with the key that the manifest of the run has for the reviewer, and returns both. Both are null
 * if the reviewer sent no signature and the run requires none.
 * @throws ServiceError `invalid_request`
 */
async function signatureOf({ run, review, snapshot }: ReviewedRun, { domain, given, by }: DecisionRequest) {
  const { signature, checksum, decision, note } = given;
  if (signature == null) {
    if (snapshot.approval !== 'all_signed') return { signature: null, key: null };
    throw invalid('/signature', 'Expected a signature: this computation requires signed decisions.');
  }
  // The manifest of a run with a review has the keys of its reviewers alone, in their order.
  const key = snapshot.manifest.result_consumers[review.reviewers.indexOf(by)]?.user_key ?? '';
  const { manifest_digest, computation_id: computation } = run;
  const text = decisionText({ domain, computation, run: run.id, reviewer: by, manifest_digest, checksum, decision, note });
  if (!(await isSignatureOf({ text, key, signature })))
    throw invalid('/signature', `Expected a signature by your key in the manifest of the run, of the text ${text}`);
  const keys = snapshot.manifest.result_consumers.map(({ user_key }, at) => ({ user: review.reviewers[at], key: user_key }));
  if ([...keys, ...snapshot.approvals].some((other) => other.user !== by && other.key === key))
    throw invalid('/signature', 'Another reviewer or approver of the run has your key too: it can speak for one of you only.');
  return { signature, key };
}

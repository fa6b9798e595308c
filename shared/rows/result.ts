import {
  decisions,
  longestNote,
  type ResultReview,
  outcomeOf,
  resultStates,
  mostReviewers,
} from 'computation-management-formats/consent';
import { arrayOf, described, namedObject, orNull, shownText } from 'computation-management-formats/fields';
import { idOfAsset } from 'computation-management-formats/identifiers';
import { timestamp } from 'computation-management-formats/timestamps';
import * as v from 'valibot';
import { parseStored } from '../table/stored.ts';
import type { Item } from '../table/table.ts';

const decisionEntries = {
  reviewer: shownText(255, 'The user who decided.'),
  decision: described(v.picklist(decisions), 'What the reviewer decided.'),
  note: shownText(longestNote, 'What the reviewer says about the decision.'),
  decided_at: described(timestamp, 'The time of the decision.'),
};

const decision = namedObject('ResultDecision', 'The decision of a reviewer on a result.', decisionEntries);

/** The schema of the result of a run under review: its state, the file that was handed in, and the decisions. */
export const resultSchema = namedObject('ResultOfRun', 'The result of a run under review.', {
  state: described(
    v.picklist(resultStates),
    '`awaiting_file`: no reviewer has handed in the result, or its file has not arrived. `under_review`: the file is here. `released`: ' +
      'the consumers may get it. `withheld`: they never get it.',
  ),
  asset: orNull(idOfAsset, 'The asset with the file. null until a reviewer hands it in.'),
  checksum: orNull(shownText(64), 'The SHA3-256 of the file, hex. null until a reviewer hands it in.'),
  size: orNull(v.pipe(v.number(), v.integer()), 'The size of the file in bytes. null until a reviewer hands it in.'),
  decisions: arrayOf(decision, mostReviewers, 'The decisions, in the order in which they were made. A decision is final.'),
});
/** The result of a run under review: its state, the file that was handed in, and the decisions. */
export type ResultOfRun = v.InferOutput<typeof resultSchema>;

/** The result of a run with a review, before a reviewer hands it in. */
export const noResult: ResultOfRun = { state: 'awaiting_file', asset: null, checksum: null, size: null, decisions: [] };

/** Returns the result after one more decision: released or withheld, if this decision decides it. */
export function withDecision(result: ResultOfRun, review: ResultReview, given: ResultOfRun['decisions'][number]): ResultOfRun {
  const all = [...result.decisions, given];
  return { ...result, decisions: all, state: outcomeOf(review, all) ?? result.state };
}

/** The schema of a decision as evidence states it: with what the reviewer signed and the key that verifies it. */
export const statedDecision = namedObject('StatedDecision', 'The decision of a reviewer on a result, as evidence states it.', {
  ...decisionEntries,
  checksum: shownText(64, 'The SHA3-256 of the file on which the reviewer decided, hex.'),
  signature: orNull(shownText(4_096), 'The signature of the reviewer in base64. null if the reviewer did not sign.'),
  key: orNull(
    shownText(16 * 1024),
    'The public key that verifies the signature, as DER SubjectPublicKeyInfo, base64. null without a signature.',
  ),
});
/** A decision of a reviewer on a result as it is stored and as evidence states it, with its signature. */
export type StatedDecision = v.InferOutput<typeof statedDecision>;

/** Parses the stored decision of a reviewer, to release or to withhold the result of a run. */
export function parseDecision(item: Item): StatedDecision {
  return parseStored(statedDecision, item, 'decision on a result');
}

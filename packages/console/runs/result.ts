import type { Schemas } from 'computation-management-client';
import type { CoveredReview } from 'computation-management-formats/consent';
import { fingerprintOf, usersText } from 'computation-management-words';
import { momentText } from '../show/texts.ts';

type Result = NonNullable<Schemas['Run']['result']>;

/** Returns the fingerprint of the key that a reviewer has in the manifest of a run. Such a manifest has the keys of the reviewers alone. */
export function keyOfReviewer(
  { result_consumers }: Pick<Schemas['Manifest'], 'result_consumers'>,
  { reviewers }: CoveredReview,
  user: string,
): string | undefined {
  const key = result_consumers[reviewers.indexOf(user)]?.user_key;
  return key === undefined ? undefined : fingerprintOf(key);
}

/** Returns what a user can do about the result of a completed run. The service allows nothing else. */
export function actsOn({ state, decisions }: Result, { reviewers, consumers }: CoveredReview, user: string) {
  const isReviewer = reviewers.includes(user);
  const isHere = state !== 'awaiting_file';
  return {
    mayHandIn: isReviewer && decisions.length === 0 && (state === 'awaiting_file' || state === 'under_review'),
    mayDecide: isReviewer && state === 'under_review' && !decisions.some(({ reviewer }) => reviewer === user),
    mayDownload: (isReviewer && isHere) || (consumers.includes(user) && state === 'released'),
  };
}

/** Returns where a result is, and what its release still waits for, in a sentence. */
export function resultText({ state, asset, decisions }: Result, { reviewers, consumers, needed }: CoveredReview): string {
  const releases = decisions.filter(({ decision }) => decision === 'release').length;
  const open = reviewers.filter((user) => !decisions.some(({ reviewer }) => reviewer === user));
  switch (state) {
    case 'awaiting_file':
      return asset === null
        ? `It is in the CVM until a reviewer fetches it there and hands it in: ${usersText(reviewers)}.`
        : 'A reviewer is handing it in: its file has not arrived yet.';
    case 'under_review':
      return `${releases} of ${needed} releases given. Who has not decided: ${usersText(open)}.`;
    case 'released':
      return `Released to ${usersText(consumers)}.`;
    case 'withheld':
      return `No consumer gets it: only ${reviewers.length - (decisions.length - releases)} of the ${needed} releases that it needs can still be given.`;
  }
}

/** Says why a released result is not there any more. */
export const deletedText = ({ decisions }: Pick<Result, 'decisions'>) =>
  `It was released on ${momentText(decisions.at(-1)?.decided_at ?? '')} and is deleted: its days are over, or the owner or an administrator deleted it.`;

import { idOfAsset, idOfComputation, idOfRun } from 'computation-management-formats/identifiers';
import { arrayOf, described, namedObject, shownText } from 'computation-management-formats/fields';
import { timestamp } from 'computation-management-formats/timestamps';
import * as v from 'valibot';
import { mostReasons, refusalSchema } from '../approvals/index.ts';
import { nameOfComputation } from '../rows/computation.ts';
import { expectedParts } from './tasks-of.ts';

/** The largest number of entries in each list of a user's open tasks. */
export const mostEntries = 100;

/** The most invitations that are listed of one inviter, so that nobody hides those of others. */
export const mostOfInviter = 20;

const ofComputation = { computation_id: idOfComputation, name: nameOfComputation };

/*#__NO_SIDE_EFFECTS__*/
function total(what: string) {
  return v.pipe(v.number(), v.integer(), v.description(`How many ${what}, also beyond the list.`));
}

/*#__NO_SIDE_EFFECTS__*/
function listOf<Entries extends v.ObjectEntries>(title: string, what: string, entries: Entries, description: string) {
  const entry = namedObject(title, what, { ...ofComputation, ...entries });
  return arrayOf(entry, mostEntries, description);
}

/** The open tasks of a user (docs/contract.md, section 9). */
export const todoSchema = namedObject(
  'Todo',
  'Your open tasks. First those in computations that you created and own, uploaded a key to or linked an asset to; newest first within each.',
  {
    approvals: listOf(
      'ApprovalToGive',
      'A computation that needs your approval.',
      {
        because: arrayOf(
          shownText(255),
          mostReasons,
          'Why your approval is needed: the file names of your assets that need it, and `result consumer` or `reviewer` if you must approve as one. A file of such a name is in quotes.',
        ),
        manifest_digest: shownText(64, 'The digest of the manifest to approve.'),
      },
      'Computations with a manifest that need your approval and do not have it.',
    ),
    keys: listOf(
      'KeyToUpload',
      'A computation that needs your public key.',
      {},
      'Computations that need your public key and do not have it.',
    ),
    content: arrayOf(
      namedObject('ContentToUpload', 'An asset of yours without content.', {
        asset_id: idOfAsset,
        file_name: shownText(255, 'The name of the file.'),
      }),
      mostEntries,
      'Your assets whose content has not arrived.',
    ),
    reviews: listOf(
      'ReviewToGive',
      'A result that waits for your review.',
      { run_id: idOfRun },
      'Completed runs whose result waits for your decision, or for its file. Newest first.',
    ),
    refusals: listOf(
      'RefusalToRead',
      'A refusal to approve a computation of yours.',
      refusalSchema.entries,
      'Refusals of users whose approval your computations need.',
    ),
    invitations: listOf(
      'Invitation',
      'A computation that names you, in which you have not acted.',
      {
        owner: shownText(255, "The owner of the computation, a user's `sub`."),
        expected: v.pipe(
          v.array(v.picklist(expectedParts)),
          v.description('As what the computation names you.'),
          v.metadata({ minItems: 1, maxItems: 3 }),
        ),
      },
      `Computations that name you, in which you have no key, have linked no asset, and have neither approved nor refused. The newest ${mostOfInviter} of each owner, newest first.`,
    ),
    totals: namedObject('TodoTotals', 'How long the lists would be without limits. Exact.', {
      approvals: total('approvals'),
      keys: total('keys'),
      content: total('assets'),
      reviews: total('reviews'),
      refusals: total('refusals'),
      invitations: total('invitations'),
    }),
    as_of: described(timestamp, 'The time as of which the lists are right. They may contain later changes.'),
  },
);

export type Todo = v.InferOutput<typeof todoSchema>;

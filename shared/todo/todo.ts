import { shownText } from 'computation-management-formats/fields';
import { idOfAsset, idOfComputation } from 'computation-management-formats/identifiers';
import * as v from 'valibot';
import { mostReasons } from '../approvals/readiness.ts';
import { nameOfComputation } from '../rows/computation.ts';

export const mostEntries = 100;

const ofComputation = { computation_id: idOfComputation, name: nameOfComputation };

/*#__NO_SIDE_EFFECTS__*/
function total(what: string) {
  const description = `How many ${what}, also beyond the list. null if more computations or assets had to be examined than are.`;
  return v.pipe(v.nullable(v.pipe(v.number(), v.integer())), v.description(description));
}

/** The open tasks of a user (docs/contract.md, section 9). */
export const todoSchema = v.pipe(
  v.object({
    approvals: v.pipe(
      v.array(
        v.pipe(
          v.object({
            ...ofComputation,
            because: v.pipe(
              v.array(shownText(255)),
              v.description(
                'Why your approval is needed: the file names of your assets that need it, and `result consumer` if you must approve as one. A file of that name is in quotes.',
              ),
              v.metadata({ maxItems: mostReasons }),
            ),
            manifest_digest: v.pipe(shownText(64), v.description('The digest of the manifest to approve.')),
          }),
          v.title('ApprovalToGive'),
          v.description('A computation that needs your approval.'),
        ),
      ),
      v.metadata({ maxItems: mostEntries }),
      v.description('Computations with a manifest that need your approval and do not have it.'),
    ),
    keys: v.pipe(
      v.array(
        v.pipe(v.object(ofComputation), v.title('KeyToUpload'), v.description('A computation that needs your public key.')),
      ),
      v.metadata({ maxItems: mostEntries }),
      v.description('Computations that need your public key and do not have it.'),
    ),
    content: v.pipe(
      v.array(
        v.pipe(
          v.object({
            asset_id: idOfAsset,
            file_name: v.pipe(shownText(255), v.description('The name of the file.')),
          }),
          v.title('ContentToUpload'),
          v.description('An asset of yours without content.'),
        ),
      ),
      v.metadata({ maxItems: mostEntries }),
      v.description('Your assets whose content has not arrived.'),
    ),
    totals: v.pipe(
      v.object({ approvals: total('approvals'), keys: total('keys'), content: total('assets') }),
      v.title('TodoTotals'),
      v.description('How long the lists would be without a limit.'),
    ),
    truncated: v.pipe(v.boolean(), v.description('Whether a total is null.')),
  }),
  v.title('Todo'),
  v.description(
    'Your open tasks. First those in computations that you created and own, uploaded a key to or linked an asset to; newest first within each.',
  ),
);
export type Todo = v.InferOutput<typeof todoSchema>;

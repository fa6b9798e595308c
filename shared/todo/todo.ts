import * as v from 'valibot';
import { identifier } from '../identifier-schemas.ts';
import { shownText } from '../text.ts';

const ofComputation = { computation_id: identifier, name: v.pipe(shownText(200), v.description('The name of the computation.')) };

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
                'Why your approval is needed: the file names of your assets that need it, and `result consumer` if you must approve as one.',
              ),
            ),
            manifest_digest: v.pipe(shownText(64), v.description('The digest of the manifest to approve.')),
          }),
          v.title('ApprovalToGive'),
        ),
      ),
      v.description('Computations with a manifest that need your approval and do not have it.'),
    ),
    keys: v.pipe(
      v.array(v.pipe(v.object(ofComputation), v.title('KeyToUpload'))),
      v.description('Computations that need your public key and do not have it.'),
    ),
    content: v.pipe(
      v.array(v.pipe(v.object({ asset_id: identifier, file_name: shownText(255) }), v.title('ContentToUpload'))),
      v.description('Your assets whose content has not arrived.'),
    ),
  }),
  v.title('Todo'),
);
export type Todo = v.InferOutput<typeof todoSchema>;

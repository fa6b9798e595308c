import type { Configuration } from 'computation-management-formats/approval-text';
import { longestValue } from 'computation-management-formats/covered-changes';
import { shownText } from 'computation-management-formats/fields';
import { timestamp } from 'computation-management-formats/timestamps';
import * as v from 'valibot';
import type { Manifest } from '../rows/manifest.ts';
import { parseStored, storedBytes, deflated, inflated } from '../table/stored.ts';
import type { Item } from '../table/table.ts';

const value = v.nullable(v.union([shownText(longestValue), v.boolean(), v.number()]));

export const approvalChange = v.pipe(
  v.object({
    path: v.pipe(
      shownText(200),
      v.description('The place in `{manifest, configuration, signature, expires_at, cvm_ids, max_runs}`, a JSON pointer.'),
      v.examples(['/manifest/algorithm/hash']),
    ),
    approved: v.pipe(value, v.description('The value when the user approved. null: none.')),
    current: v.pipe(value, v.description('The value now. null: none.')),
    user: v.pipe(v.nullable(shownText(255)), v.description('The user whom the change is about. null for nobody.')),
    by: v.pipe(v.nullable(shownText(255)), v.description('The user who made the change. null if nobody is known.')),
    at: v.pipe(v.nullable(timestamp), v.description('The time of the change. null if it is not known.')),
  }),
  v.title('ApprovalChange'),
  v.description(
    'A reason why an approval does not count. Hashes are in hex. `sha256:` and a hash stands for a value of more than 200 characters. At ' +
      '`/signature`, the values are the keys; at `/expires_at`, the current value is the time of the request; at `/cvm_ids`, the values are ' +
      'the fingerprints of the certificates.',
  ),
);

/** The manifest and the configuration that a user approved. */
interface Approved {
  manifest: Manifest;
  configuration: Configuration;
}

const storedApproved = v.object({ approved: storedBytes });

/**
 * Returns the attributes of the item that keeps the manifest and configuration that a user approved (key: `approvedKeys`). They
 * are deflated, because a manifest may have 256 KB.
 */
export function approvedAttributes({ manifest, configuration }: Approved): v.InferOutput<typeof storedApproved> {
  return { approved: deflated(JSON.stringify({ manifest, configuration })) };
}

/**
 * Reads from a stored item the manifest and configuration that a user approved.
 * @throws Error if the item is missing or invalid
 */
export function parseApproved(item: Item | undefined): Approved {
  return JSON.parse(inflated(parseStored(storedApproved, item, 'approved manifest').approved)) as Approved;
}

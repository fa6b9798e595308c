import type { Configuration } from 'computation-management-formats/consent';
import { longestValue } from 'computation-management-formats/covered-changes';
import { described, namedObject, orNull, shownText } from 'computation-management-formats/fields';
import { timestamp } from 'computation-management-formats/timestamps';
import * as v from 'valibot';
import type { StoredAsset } from '../rows/asset.ts';
import { type Inputs, type Manifest, keysForResult } from '../rows/manifest.ts';
import { parseStored, storedBytes, deflated, inflated } from '../table/stored.ts';
import type { Item } from '../table/table.ts';

const value = v.nullable(v.union([shownText(longestValue), v.boolean(), v.number()]));

export const approvalChange = namedObject(
  'ApprovalChange',
  'A reason why an approval does not count. Hashes are in hex. `sha256:` and a hash stands for a value of more than 200 characters. At ' +
    '`/signature`, the values are the keys; at `/expires_at`, the current value is the time of the request; at `/cvm_ids`, the values are ' +
    'the fingerprints of the certificates.',
  {
    path: v.pipe(
      shownText(200),
      v.description('The place in `{manifest, configuration, signature, expires_at, cvm_ids, max_runs}`, a JSON pointer.'),
      v.examples(['/manifest/algorithm/hash']),
    ),
    approved: described(value, 'The value when the user approved. null: none.'),
    current: described(value, 'The value now. null: none.'),
    user: orNull(shownText(255), 'The user whom the change is about. null for nobody.'),
    by: orNull(shownText(255), 'The user who made the change. null if nobody is known.'),
    at: orNull(timestamp, 'The time of the change. null if it is not known.'),
  },
);

/** The asset of a file that a computation uses. */
type File = Pick<StoredAsset, 'id' | 'created_by' | 'file_name'>;

/** The people and assets behind a manifest, by which the service says whom a later change is about and who made it. */
export interface Around {
  owner: string;
  /** The consumers whom a computation names. */
  consumers: string[];
  /** The users to whom the agent gives the result, in the order of their keys in a manifest. */
  receivers: string[];
  algorithm?: File | undefined;
  /** The datasets of a computation, in the order of a manifest. */
  datasets: File[];
}

/** The manifest and the configuration that a user approved, and what is behind them. */
export interface Approved {
  manifest: Manifest;
  configuration: Configuration;
  around: Around;
}

/** Returns the people and assets behind the manifest of a computation as it is now. */
export function aroundOf(inputs: Inputs): Around {
  const { computation, consumers, algorithm, datasets } = inputs;
  const fileOf = ({ id, created_by, file_name }: StoredAsset): File => ({ id, created_by, file_name });
  return {
    owner: computation.owner,
    consumers,
    receivers: keysForResult(inputs).map(({ user_id }) => user_id),
    algorithm: algorithm && fileOf(algorithm),
    datasets: datasets.map(fileOf),
  };
}

const storedApproved = v.object({ approved: storedBytes });

/**
 * Returns the attributes of the item that keeps what a user approved: the manifest, the configuration and what is behind them
 * (key: `approvedKeys`). They are deflated, because a manifest may have 256 KB.
 */
export function approvedAttributes(approved: Approved): v.InferOutput<typeof storedApproved> {
  return { approved: deflated(JSON.stringify(approved)) };
}

/**
 * Reads from a stored item what a user approved.
 * @throws Error if the item is missing or invalid
 */
export function parseApproved(item: Item | undefined): Approved {
  return JSON.parse(inflated(parseStored(storedApproved, item, 'approved manifest').approved)) as Approved;
}

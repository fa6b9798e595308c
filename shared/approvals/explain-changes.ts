import * as v from 'valibot';
import { detailsIn } from 'computation-management-formats/bytes';
import { type PlacedChange, longestValue } from 'computation-management-formats/covered-changes';
import type { StoredEvent } from '../journal/journal.ts';
import type { StoredAsset } from '../rows/asset.ts';
import { type NamedChange, reviewPart } from '../rows/definition.ts';
import { assetsOf, type Inputs, reviewOf, type Manifest, keysForResult } from '../rows/manifest.ts';
import type { StoredApproval } from '../rows/stored-approval.ts';
import type { Configuration } from 'computation-management-formats/consent';
import { described, namedObject, orNull, shownText } from 'computation-management-formats/fields';
import { timestamp } from 'computation-management-formats/timestamps';
import { parseStored, storedBytes, deflated, inflated } from '../table/stored.ts';
import type { Item } from '../table/table.ts';

/** A reason why an approval does not count, as the API shows it. */
export type StaleReason = v.InferOutput<typeof approvalChange>;
type Author = Pick<StaleReason, 'by' | 'at'>;

interface PastEvent extends Author {
  event_type: string;
  details: Record<string, unknown>;
}
type Is = (event: PastEvent) => boolean;

const nobody: Author = { by: null, at: null };
const nowhere = [undefined, undefined] as const;

/** The things known about the time since a user approved a computation. */
interface Since {
  approval: StoredApproval;
  inputs: Inputs;
  /** The manifest and configuration that the user approved. Absent if nothing of them has changed. */
  approved?: Approved | undefined;
  /** The newest events of the journal, the newest first. They may not reach back to the approval. Absent: none is known. */
  newest?: readonly StoredEvent[];
  /** The CVMs to which the approval is limited, by identifier, with who last changed their certificates. */
  cvms?: ReadonlyMap<string, { certified?: { by: string; at: string } | undefined } | undefined>;
}

/**
 * Returns a function that says of a change since an approval whom it is about, who made it and when. It finds that in the journal, or in
 * the asset if its creator changed it in place. A value was set by the newest event that changed it. Who named or removed a
 * consumer or reviewer, or changed a member of the policy or of the review, is kept with the computation.
 */
export function explainChanges({ approval, inputs, approved: before, newest = [], cvms }: Since) {
  const { user_id: approver, approved_at } = approval;
  const now = aroundOf(inputs);
  const then = before?.around ?? now;
  const review = reviewOf(inputs);
  const reviewThen = before ? before.configuration.result_review : review;
  const end = newest.findIndex(({ event_type, originator }) => event_type === 'approved' && originator === approver);
  const isWhole = end >= 0;
  const events = newest.slice(0, isWhole ? end : undefined).map(pastEvent);

  const changedAt = ({ changed_at }: StoredAsset, field: string): string | null => {
    const at = changed_at?.[field];
    return at !== undefined && at >= approved_at ? at : null;
  };

  const last = (is: Is): Author => authorOf(events.find(is));
  const since = (changes: readonly NamedChange[], is: (change: NamedChange) => boolean): Author =>
    authorOf(changes.find((each) => each.at >= approved_at && is(each)));

  const ofFile = ({ path, places: [approvedAs, currentAs] = nowhere }: PlacedChange): Author => {
    const isAlgorithm = path.startsWith('/manifest/algorithm');
    const before = isAlgorithm ? then.algorithm : then.datasets[approvedAs ?? -1];
    const after = isAlgorithm ? inputs.algorithm : inputs.datasets[currentAs ?? -1];
    if (after && before?.id === after.id) {
      const part = path.split('/')[isAlgorithm ? 3 : 4] ?? '';
      const isOfUser = part === 'user_key' && after.user_key === '';
      const ofKey = isOfUser ? last(isKeyOf(after.created_by)) : nobody;
      if (ofKey.by !== null || (isOfUser && !isWhole)) return ofKey;
      return { by: after.created_by, at: changedAt(after, part === 'hash' ? 'checksum' : part) };
    }
    const wasThere = (id: string) => [then.algorithm, ...then.datasets].find((file) => file?.id === id);
    const ofLink = (type: string, id: string | undefined) => (event: PastEvent) =>
      event.event_type === type && event.details['asset_id'] === id;
    const isLinked = ofLink('asset_linked', after?.id);
    if (after && !wasThere(after.id)) return last(isLinked);
    const renamed = [after, assetsOf(inputs).find(({ id }) => id === before?.id)].find((asset) => {
      const earlier = asset && wasThere(asset.id);
      return earlier && earlier.file_name !== asset.file_name;
    });
    if (renamed) return { by: renamed.renamed_by ?? null, at: changedAt(renamed, 'file_name') };
    const isUnlinked = ofLink('asset_unlinked', before?.id);
    return last((event) => isLinked(event) || isUnlinked(event));
  };

  /** Finds who changed a part of the review, or, for an empty name of a part, set or removed the review. */
  const ofReview = (part: string): Author => {
    const ofPart = since(inputs.policy_changes, ({ name }) => name === reviewPart(part));
    return ofPart.by === null ? last(isUpdateOf('result_review')) : ofPart;
  };

  /** Finds who made a user a receiver of results, or changed that. With a review on both sides, these are those of released results. */
  const ofReceivers = (user: string | null, side: 'from' | 'to'): Author => {
    const [wasNamed, isNamed] = [then, now].map(({ owner, consumers }) => [owner, ...consumers].some((each) => each === user));
    if (!review !== !reviewThen && wasNamed === isNamed) return ofReview('');
    const ofOwner = last((event) => event.event_type === 'owner_changed' && event.details[side] === user);
    const ofList = since(inputs.consumer_changes, ({ name }) => name === user || name === '');
    return (ofList.at ?? '') > (ofOwner.at ?? '') ? ofList : ofOwner;
  };

  const ofFetcher = ({ approved, current }: PlacedChange, user: string | null): Author => {
    const isReviewer = [review, reviewThen].some((each) => each?.reviewers.some((reviewer) => reviewer === user));
    const named = (side: 'from' | 'to') => (isReviewer ? ofReview(`reviewers/${user}`) : ofReceivers(user, side));
    const ofKey = last(isKeyOf(user));
    if (approved === null) {
      const isOpen = !review && !reviewThen && then.consumers.length === 0 && now.consumers.length === 0 && now.owner !== user;
      const couldReceive = isOpen || (reviewThen?.reviewers ?? [then.owner, ...then.consumers]).some((each) => each === user);
      return couldReceive ? ofKey : named('to');
    }
    const hasKey = inputs.keys.some(({ user_id }) => user_id === user);
    const [first, second] = current !== null || !hasKey ? [ofKey, named('from')] : [named('from'), ofKey];
    return first.by === null ? second : first;
  };

  const userOf = ({ path, current, places: [approvedAs, currentAs] = nowhere }: PlacedChange): string | null => {
    if (path.startsWith('/manifest/result_consumers'))
      return now.receivers[currentAs ?? -1] ?? then.receivers[approvedAs ?? -1] ?? null;
    if (path.startsWith('/manifest/algorithm')) return (now.algorithm ?? then.algorithm)?.created_by ?? null;
    if (path.startsWith('/manifest/datasets')) {
      return (now.datasets[currentAs ?? -1] ?? then.datasets[approvedAs ?? -1])?.created_by ?? null;
    }
    const [, list, place] = /^.configuration.result_review.(reviewers|consumers).(\d+)$/.exec(path) ?? [];
    if (list) return (current === null ? reviewThen : review)?.[list as 'reviewers' | 'consumers'][Number(place)] ?? null;
    return /^\/(manifest|configuration)(\/|$)/.test(path) ? null : approver;
  };

  const author = (change: PlacedChange, user: string | null): Author => {
    const { path, approved, current } = change;
    const [, area, member = '', part = ''] = path.split('/');
    if (area === 'expires_at') return { by: null, at: String(approved) };
    if (area === 'cvm_ids') return authorOf(cvms?.get(approval.cvm_ids?.[Number(member)] ?? '')?.certified);
    if (area === 'signature') return current === 'required' ? last(isUpdateOf('approval')) : last(isKeyOf(approver));
    if (member === 'agent_config') return last(isUpdateOf(`${member}.${part}`));
    if (member === 'attestation_policy') {
      const ofMember = since(inputs.policy_changes, ({ name }) => name === part);
      return ofMember.by === null ? last(isUpdateOf(member)) : ofMember;
    }
    if (member === 'algorithm' || member === 'datasets') return ofFile(change);
    if (member === 'result_consumers') return ofFetcher(change, user);
    if (member === 'result_review' && part === 'consumers') return ofReceivers(user, approved === null ? 'to' : 'from');
    if (member === 'result_review') return ofReview(user === null ? part : `${part}/${user}`);
    return last(isUpdateOf(member));
  };

  return (placed: PlacedChange): StaleReason => {
    const { places: _, ...change } = placed;
    const user = userOf(placed);
    return { ...change, user, ...author(placed, user) };
  };
}

function pastEvent({ event_type, originator, timestamp, details }: StoredEvent): PastEvent {
  return { event_type, by: originator, at: timestamp, details: detailsIn(Buffer.from(details).toString('base64')) };
}

function authorOf({ by, at }: Author = nobody): Author {
  return { by, at };
}

function isUpdateOf(field: string): Is {
  return ({ event_type, details: { fields } }) => event_type === 'updated' && Array.isArray(fields) && fields.includes(field);
}

function isKeyOf(user: string | null): Is {
  return ({ event_type, by, details }) =>
    (event_type === 'key_uploaded' && by === user) || (event_type === 'key_removed' && details['user'] === user);
}

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
  /** The users whom a computation names as receivers of its result. */
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

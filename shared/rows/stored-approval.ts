import { base64Text, described, namedInput } from 'computation-management-formats/fields';
import { comparedId } from 'computation-management-formats/identifiers';
import * as v from 'valibot';
import { computationKeys } from '../table/keys.ts';
import { parseStored } from '../table/stored.ts';
import { getItem, type Item, type Table } from '../table/table.ts';
import type { Transaction } from '../table/transaction.ts';
import type { RunReference } from './run.ts';

/** The most CVMs that an approval can name. */
export const mostCvms = 100;

/** Schema of a digest or a hash that a user sends. */
export const hexDigest = v.pipe(
  v.string('Expected 64 hex digits.'),
  v.regex(/^[0-9a-f]{64}$/, 'Expected 64 hex digits in lower case.'),
  v.metadata({ maxLength: 64 }),
);

const longestSignature = 4_096;
/** Schema of a signature that a user sends. */
export const signatureText = v.pipe(base64Text, v.maxLength(longestSignature, `Expected up to ${longestSignature} characters.`));

/** Schema of an event of the journal that an approval names: the newest that its user saw. */
export const journalHead = namedInput('JournalHead', 'An event of the journal.', {
  id: described(comparedId(), 'The identifier of the event.'),
  hash: described(hexDigest, 'The hash of the event.'),
});

const storedApproval = v.object({
  user_id: v.string(),
  digest: v.string(),
  configuration_digest: v.string(),
  /** The CVMs on which a run may start by the approval of a user. Null: any CVM. */
  cvm_ids: v.nullable(v.array(v.string())),
  /**
   * The fingerprints of the certificates that the CVMs of a user's approval had when it was given, by the identifiers of the CVMs.
   * Null for a CVM that had no certificate or was not registered.
   */
  certificates: v.record(v.string(), v.nullable(v.string())),
  /**
   * The time before which a run must start to be covered by a user's approval: RFC 3339, as the user gave and signed it. Null:
   * the approval never expires.
   */
  expires_at: v.nullable(v.string()),
  /** The signature of the user under an approval, in base64. Null if the user did not sign. */
  signature: v.nullable(v.string()),
  /**
   * The public key that verifies the user's signature under an approval: base64 of a DER SubjectPublicKeyInfo. Null if the user
   * did not sign.
   */
  key: v.nullable(v.string()),
  /** The most runs that may start on an approval, and the identifier of their counter, as the user signed them. Both are null without a limit. */
  max_runs: v.nullable(v.number()),
  approval_id: v.nullable(v.string()),
  /** The newest event of the journal that the user saw, as the user signed it. Null if the user named none. */
  journal_head: v.nullable(journalHead),
  approved_at: v.string(),
});
/** The approval of a user as it is stored with the computation. */
export type StoredApproval = v.InferOutput<typeof storedApproval>;

export function parseApproval(item: Item): StoredApproval {
  return parseStored(storedApproval, item, 'approval');
}

const storedRefusal = v.object({
  user_id: v.string(),
  /** The digests of what the user refused. `digest` is null if there was no manifest. */
  digest: v.nullable(v.string()),
  configuration_digest: v.string(),
  reason: v.string(),
  refused_at: v.string(),
});
/** The refusal of a user to approve as it is stored with the computation. */
export type StoredRefusal = v.InferOutput<typeof storedRefusal>;

export function parseRefusal(item: Item): StoredRefusal {
  return parseStored(storedRefusal, item, 'refusal');
}

const storedUses = v.object({
  /** The number of runs that have started on each approval for a number of runs, by its `approval_id`. Absent: none. */
  used: v.record(v.string(), v.number()),
  /** The last run that was started on approvals for a number of runs. */
  run_id: v.string(),
  /** The approvals that this run used, by their `approval_id`. Empty after the run has given them back. */
  counted: v.array(v.string()),
});

/** The number of runs that have started on approvals for a number of runs, by `approval_id`. */
export type UsedRuns = v.InferOutput<typeof storedUses>['used'];

/** Parses how many runs have started on approvals of a computation. Empty if there is no item. */
export function parseUsedRuns(item: Item | undefined): UsedRuns {
  return item ? parseStored(storedUses, item, 'count of used runs').used : {};
}

/** Returns how many runs have started on an approval. Null if it is for any number of runs. */
export function usedRunsOf({ approval_id }: Pick<StoredApproval, 'approval_id'>, used: UsedRuns): number | null {
  return approval_id === null ? null : (used[approval_id] ?? 0);
}

/** Returns whether as many runs have started on an approval as it allows. */
export function isUsedUp(approval: Pick<StoredApproval, 'approval_id' | 'max_runs'>, used: UsedRuns): boolean {
  return approval.max_runs !== null && (usedRunsOf(approval, used) ?? 0) >= approval.max_runs;
}

/**
 * Adds to the transaction that starts a run that the run uses its approvals. It must fail if the computation has changed since the counts were
 * read. Counts of approvals that are gone are dropped.
 */
export function countRun(
  transaction: Transaction,
  { computation_id, run_id }: RunReference,
  { approvals, used, counting }: { approvals: StoredApproval[]; used: UsedRuns; counting: Pick<StoredApproval, 'approval_id'>[] },
): void {
  const counted = counting.flatMap(({ approval_id }) => approval_id ?? []);
  if (counted.length === 0) return;
  const known = approvals.flatMap(({ approval_id }) => approval_id ?? []);
  const next = known
    .map((id) => [id, (used[id] ?? 0) + (counted.includes(id) ? 1 : 0)] as const)
    .filter(([, count]) => count > 0);
  const Item = { ...computationKeys.usedRuns(computation_id), used: Object.fromEntries(next), run_id, counted };
  transaction.add({ put: { Item } });
}

/**
 * Adds to the transaction that ends a run which no CVM accepted that its approvals have one run more again. It must fail if the computation
 * has changed since. One round trip.
 */
export async function giveBackRun(
  table: Table,
  transaction: Transaction,
  { computation_id, run_id }: RunReference,
): Promise<void> {
  const key = computationKeys.usedRuns(computation_id);
  const item = await getItem(table, key);
  const stored = item && parseStored(storedUses, item, 'count of used runs');
  if (stored?.run_id !== run_id || stored.counted.length === 0) return;
  const used = { ...stored.used };
  for (const id of stored.counted) used[id] = Math.max(0, (used[id] ?? 0) - 1);
  transaction.add({ put: { Item: { ...key, used, run_id, counted: [] } } });
}

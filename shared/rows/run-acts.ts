import { timeOf } from 'computation-management-formats/timestamps';
import * as v from 'valibot';
import { runKeys } from '../table/keys.ts';
import { parseStored } from '../table/stored.ts';
import { getItems, type Item, type Table } from '../table/table.ts';
import type { Action, Transaction } from '../table/transaction.ts';
import type { ComputationToChange } from './change-computation.ts';
import { isActive, type Run, type OfRun } from './run.ts';
import { neededApprovalsOf, parseSnapshot, type RunSnapshot } from './run-snapshot.ts';

/** The acts of a user during a run that take back the approval on which it was started. */
const approvalActs = ['withdrew', 'refused', 'replaced'] as const;
type ApprovalAct = (typeof approvalActs)[number];

const storedActs = v.object({
  /** The acts by which users took back approvals that the start of a run needed. Nothing undoes them for this run. */
  revoked: v.optional(v.record(v.string(), v.picklist(approvalActs))),
  /** The earlier expiries of approvals that replaced those of the start, by user: RFC 3339, UTC, milliseconds. */
  expiries: v.optional(v.record(v.string(), v.string())),
});
/** The record of what users did during a run to the approvals that its start needed: the item at `runKeys.acts`. */
export type Acts = v.InferOutput<typeof storedActs>;

/** Parses the record of what users did during a run to the approvals that its start needed. Empty if there is no item. */
export function parseActs(item: Item | undefined): Acts {
  return item ? parseStored(storedActs, item, 'acts of a run') : {};
}

/** Returns the item that records what users did during a run, at `runKeys.acts`. */
function itemOfActs({ computation_id, run_id }: OfRun, acts: Acts) {
  const [first_expiry] = Object.values(acts.expiries ?? {}).sort();
  return { ...runKeys.acts(computation_id, run_id), ...acts, ...(first_expiry === undefined ? {} : { first_expiry }) };
}

/**
 * Returns the check for the transaction of a release that no approval which the start needed was revoked, or replaced by one that has expired.
 * The expiries of the snapshot are checked apart.
 * @param at RFC 3339, UTC, milliseconds
 */
export function assertNotRevoked({ computation_id, run_id }: OfRun, at: string): Action {
  const check = {
    Key: runKeys.acts(computation_id, run_id),
    ConditionExpression: 'attribute_not_exists(revoked) AND (attribute_not_exists(first_expiry) OR first_expiry > :at)',
    ExpressionAttributeValues: { ':at': at },
  };
  return { check };
}

/** The act of a user: takes an approval back, or gives one that counts until a time (RFC 3339), or for ever (null). */
export type Act = ApprovalAct | { until: string | null };

/**
 * Adds to a transaction what a user did to the approval on which the active run of a computation was started, if its start needed that
 * approval. The transaction must also change the version of the computation, so that the run is still the same. One round trip while a
 * run is active, else none.
 * @param actOf returns what the user did, seen from the run
 */
export async function recordAct(
  table: Table,
  transaction: Transaction,
  { row }: Pick<ComputationToChange, 'row'>,
  { user, now }: { user: string; now: string },
  actOf: (run: Run, snapshot: RunSnapshot) => Act,
): Promise<void> {
  const { run, status } = row;
  if (!run || !isActive(status)) return;
  const ofRun = { computation_id: row.id, run_id: run.id };
  const [item, actsItem] = await getItems(table, [runKeys.snapshot(row.id, run.id), runKeys.acts(row.id, run.id)]);
  if (!item) return;
  const snapshot = parseSnapshot([item]);
  if (!neededApprovalsOf(snapshot).some((approval) => approval.user === user)) return;
  const act = actOf(run, snapshot);
  const { revoked, expiries = {} } = parseActs(actsItem);
  if (revoked?.[user] !== undefined) return;
  const { [user]: earlier, ...others } = expiries;
  if (typeof act === 'string') {
    transaction.add({ put: { Item: itemOfActs(ofRun, { revoked: { ...revoked, [user]: act }, expiries }) } });
    return;
  }
  const until = earlier !== undefined && earlier <= now ? earlier : act.until && new Date(timeOf(act.until)).toISOString();
  if (until === (earlier ?? null)) return;
  const next = { ...others, ...(until === null ? {} : { [user]: until }) };
  transaction.add({ put: { Item: itemOfActs(ofRun, { ...(revoked && { revoked }), expiries: next }) } });
}

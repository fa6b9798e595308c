import * as v from 'valibot';
import { parseStored } from '../table/parse-stored.ts';
import { finalStatuses } from '../computations/run.ts';
import { cvmKeys } from '../table/keys.ts';
import { getItem, queryPartition, type Item, type Table } from '../table/table.ts';
import { type Action } from '../table/transaction.ts';
import { runReference, type RunReference } from './run-reference.ts';
import { RunIsOverError } from './run-is-over.ts';

/** How a run ends, and why, in words for its users. */
const ending = v.object({
  status: v.picklist(finalStatuses),
  reason: v.string(),
  /** Whether the CVM confirmed that it stopped; only of a cancelled run. */
  is_confirmed: v.optional(v.boolean()),
});
export type Ending = v.InferOutput<typeof ending>;

const claim = v.object({
  ...runReference.entries,
  claimed_at: v.string(),
  run_command_id: v.string(),
  stop_command_id: v.string(),
  accepted_at: v.optional(v.string()),
  /** Tokens of the waits that are open, or were. */
  offer_token: v.optional(v.string()),
  run_token: v.optional(v.string()),
  stop_token: v.optional(v.string()),
  /** The first word on how the run ends; the run ends with it, whatever comes later. */
  outcome: v.optional(ending),
});

/**
 * A CVM is taken by one active run. The claim is written with the run and deleted with its end, and holds what only an active
 * run needs.
 */
export type Claim = v.InferOutput<typeof claim>;

/** The claim of this very run; undefined once the run is over. */
export function parseClaim(item: Item | undefined, runId: string): Claim | undefined {
  return item?.['run_id'] === runId ? parseStored(claim, item, 'claim') : undefined;
}

export async function readClaim(table: Table, run: RunReference): Promise<Claim | undefined> {
  return parseClaim(await getItem(table, cvmKeys.claim(run.domain, run.cvm_id)), run.run_id);
}

/** Every claim of the stage, one per active run. */
export async function readClaims(table: Table): Promise<Claim[]> {
  const items = await queryPartition(table, cvmKeys.claims);
  return items.map((item) => parseStored(claim, item, 'claim'));
}

/** Changes to make to a claim: attributes to set, the first outcome kept, tokens to drop. */
export interface ClaimChange {
  set?: Partial<Pick<Claim, 'accepted_at' | 'offer_token' | 'run_token' | 'stop_token'>>;
  outcome?: Ending;
  remove?: ('offer_token' | 'run_token' | 'stop_token')[];
  /** Only while the claim has none of these. */
  unless?: ('accepted_at' | 'outcome' | 'offer_token' | 'stop_token')[];
}

/** @param otherwise thrown when the claim is no longer this run's, or has what it must not; RunIsOverError unless told */
export function changeClaim(run: RunReference, change: ClaimChange, otherwise: Error = new RunIsOverError()): Action {
  const set = Object.entries(change.set ?? {});
  const sets = set.map(([name]) => `${name} = :${name}`);
  if (change.outcome) sets.push('outcome = if_not_exists(outcome, :outcome)');
  const remove = change.remove ?? [];
  const conditions = ['run_id = :run_id', ...(change.unless ?? []).map((name) => `attribute_not_exists(${name})`)];
  return {
    update: {
      Key: cvmKeys.claim(run.domain, run.cvm_id),
      UpdateExpression: [sets.length > 0 ? `SET ${sets.join(', ')}` : '', remove.length > 0 ? `REMOVE ${remove.join(', ')}` : '']
        .join(' ')
        .trim(),
      ConditionExpression: conditions.join(' AND '),
      ExpressionAttributeValues: {
        ...Object.fromEntries(set.map(([name, value]) => [`:${name}`, value])),
        ...(change.outcome ? { ':outcome': change.outcome } : {}),
        ':run_id': run.run_id,
      },
    },
    otherwise,
  };
}

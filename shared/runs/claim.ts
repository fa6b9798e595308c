import * as v from 'valibot';
import { finalStatuses } from '../computations/run.ts';
import { cvmKeys, keyToWrite, type Key, type RowKey } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { schemaVersion } from '../table/schema-version.ts';
import { setAttributes } from '../table/set-attributes.ts';
import { getItems, queryPartition, type Item, type Table } from '../table/table.ts';
import { StaleReadError, type Transaction } from '../table/transaction.ts';
import { runReference, type RunReference } from './run-reference.ts';

/** How a run ends, and why, in words for its users. */
const ending = v.object({
  status: v.picklist(finalStatuses),
  reason: v.string(),
  /** Whether the CVM confirmed that it stopped; only of a cancelled run. */
  is_confirmed: v.optional(v.boolean()),
});
export type Ending = v.InferOutput<typeof ending>;

const storedClaim = v.object({
  ...runReference.entries,
  claimed_at: v.string(),
  run_command_id: v.string(),
  stop_command_id: v.string(),
  /** Whether the run keeps a private key beside its snapshot. Not known of older claims. */
  has_server_key: v.optional(v.boolean()),
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
export type Claim = v.InferOutput<typeof storedClaim>;

/** A claim as it was read, and where. */
export interface ReadClaim extends Claim {
  key: RowKey;
}

type CvmPlace = Pick<RunReference, 'domain' | 'cvm_id'>;

/** The places where a CVM's claim may stand, for parseClaim. */
export function claimKeys({ domain, cvm_id }: CvmPlace): [RowKey, RowKey] {
  return [cvmKeys.claim(domain, cvm_id), cvmKeys.unshardedClaim(domain, cvm_id)];
}

/** The CVM's claim, whichever run it is of, from the items read at claimKeys. */
export function parseClaim(cvm: CvmPlace, items: (Item | undefined)[]): ReadClaim | undefined {
  const found = claimKeys(cvm).flatMap((key, index) => (items[index] ? [{ ...parseStoredClaim(items[index]), key }] : []));
  return found[0];
}

/** The claim of this very run from the items read at claimKeys; undefined once the run is over. */
export function parseClaimOf(run: RunReference, items: (Item | undefined)[]): ReadClaim | undefined {
  const claim = parseClaim(run, items);
  return claim?.run_id === run.run_id ? claim : undefined;
}

function parseStoredClaim(item: Item): Claim {
  return parseStored(storedClaim, item, 'claim');
}

/** The claim of this very run; undefined once the run is over. One round trip. */
export async function readClaim(table: Table, run: RunReference): Promise<ReadClaim | undefined> {
  return parseClaimOf(run, await getItems(table, claimKeys(run)));
}

/** Every claim of the stage, one per active run. */
export async function readClaims(table: Table): Promise<Claim[]> {
  const shards = await Promise.all(cvmKeys.claimShards.map((shard) => queryPartition(table, shard)));
  return shards.flat().map(parseStoredClaim);
}

/** Claims a CVM. Fails with StaleReadError if another run has claimed it since the claims were read. */
export function addClaim(transaction: Transaction, claim: Claim): void {
  const Item = { ...keyToWrite(cvmKeys.claim(claim.domain, claim.cvm_id)), ...schemaVersion('claim'), ...claim };
  transaction.add({ put: { Item, ConditionExpression: 'attribute_not_exists(pk)' }, otherwise: new StaleReadError() });
}

type Token = 'offer_token' | 'run_token' | 'stop_token';

/** A change of a claim: one attribute or more to set, tokens to drop. */
export interface ClaimChange {
  set: Partial<Pick<Claim, 'accepted_at' | Token | 'outcome'>>;
  remove?: Token[];
  /** Only while the claim has none of these. */
  unless?: ('accepted_at' | 'outcome' | Token)[];
}

/** Changes a claim that was read. Fails with StaleReadError if it is another run's by then, or has what it must not. */
export function changeClaim(transaction: Transaction, claim: ReadClaim, { set, remove = [], unless = [] }: ClaimChange): void {
  const condition = whileOf(claim, unless);
  const changes = setAttributes(set);
  const removal = remove.length > 0 ? ` REMOVE ${remove.join(', ')}` : '';
  transaction.add({
    update: {
      ...condition,
      ...changes,
      UpdateExpression: changes.UpdateExpression + removal,
      ExpressionAttributeValues: { ...condition.ExpressionAttributeValues, ...changes.ExpressionAttributeValues },
    },
    otherwise: new StaleReadError(),
  });
}

/** Sets the CVM free. Fails with StaleReadError if the claim has another outcome than was read. */
export function removeClaim(transaction: Transaction, claim: ReadClaim): void {
  transaction.add({ delete: whileOf(claim, claim.outcome ? [] : ['outcome']), otherwise: new StaleReadError() });
}

/** Makes the transaction fail with StaleReadError if the run is over by then. */
export function assertClaimed(transaction: Transaction, claim: ReadClaim): void {
  transaction.add({ check: whileOf(claim), otherwise: new StaleReadError() });
}

interface ClaimCondition {
  Key: Key;
  ConditionExpression: string;
  ExpressionAttributeValues: Record<string, unknown>;
}

/** The claim is still of its run, and has none of these. */
function whileOf({ key, run_id }: ReadClaim, unless: string[] = []): ClaimCondition {
  return {
    Key: keyToWrite(key),
    ConditionExpression: ['run_id = :run_id', ...unless.map((name) => `attribute_not_exists(${name})`)].join(' AND '),
    ExpressionAttributeValues: { ':run_id': run_id },
  };
}

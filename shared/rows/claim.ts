import * as v from 'valibot';
import { ending, runReference, type RunReference } from './run.ts';
import { cvmKeys, keyToWrite, type RowKey } from '../table/keys.ts';
import { type Table, getItem, type Item, queryPartitions, queryPrefix } from '../table/table.ts';
import { type Transaction, StaleReadError } from '../table/transaction.ts';
import { setAttributesIf } from '../table/writes.ts';
import { parseStored, schemaAttribute } from '../table/stored.ts';

const storedClaim = v.object({
  ...runReference.entries,
  claimed_at: v.string(),
  run_command_id: v.string(),
  stop_command_id: v.string(),
  has_server_key: v.boolean(),
  has_asset_keys: v.boolean(),
  token_hash: v.optional(v.string()),
  /** The identifier of the agent process that satisfied the attestation policy of the run. Undefined without a policy. */
  process: v.optional(v.string()),
  accepted_at: v.optional(v.string()),
  /**
   * The task token of the step in the execution of a run that waits until the CVM accepts the run. `run_token` replaces it when
   * the next step waits.
   */
  offer_token: v.optional(v.string()),
  /** The task token of the step in the execution of a run that waits for the end of the run, after the CVM has accepted it. */
  run_token: v.optional(v.string()),
  /** The task token of the step in the execution of a run that waits until the CVM confirms the stop. */
  stop_token: v.optional(v.string()),
  /** The number of times that the sweep of lost runs has resumed the run with a new execution. Default: 0. */
  resumed: v.optional(v.number()),
  /** The first outcome of the run that became known, as status and reason. The run ends with this outcome. */
  outcome: v.optional(ending),
});

/** The claim on a CVM: the record that reserves the CVM for one run, with what the steps of the run have stored. */
export type Claim = v.InferOutput<typeof storedClaim>;

/** The domain and the identifier of a CVM, to find the claim that reserves the CVM for a run. */
export type CvmOfClaim = Pick<RunReference, 'domain' | 'cvm_id'>;

/** Returns the key of the claim that reserves a CVM for a run, whichever run that is. */
export function claimKey({ domain, cvm_id }: CvmOfClaim): RowKey {
  return cvmKeys.claim(domain, cvm_id);
}

/**
 * Parses the claim that reserves a CVM for a run, whichever run that is. Returns undefined if there is no item: no run holds the
 * CVM.
 */
export function parseClaim(item: Item | undefined): Claim | undefined {
  return item && parseStored(storedClaim, item, 'claim');
}

/**
 * Parses the claim that reserves a CVM if it belongs to the given run. Returns undefined if the run is over.
 * @param item the item at `claimKey`, which may be the claim of another run
 */
export function parseClaimOf({ run_id }: Pick<RunReference, 'run_id'>, item: Item | undefined): Claim | undefined {
  return item?.['run_id'] === run_id ? parseClaim(item) : undefined;
}

/** Reads the claim that reserves a CVM for a run, whichever run that is. Returns undefined if no run holds the CVM. */
export async function readClaimOfCvm(table: Table, cvm: CvmOfClaim): Promise<Claim | undefined> {
  return parseClaim(await getItem(table, claimKey(cvm)));
}

/** Reads the claim by which a run reserves its CVM. Returns undefined if the run is over. */
export async function readClaim(table: Table, run: RunReference): Promise<Claim | undefined> {
  return parseClaimOf(run, await getItem(table, claimKey(run)));
}

/**
 * Reads the claims of all domains: which run holds which CVM.
 * @param leaveOut called with the error for each claim that cannot be parsed. Default: throws it
 */
export async function readClaims(table: Table, leaveOut: (error: unknown) => void = rethrow): Promise<Claim[]> {
  return (await queryPartitions(table, cvmKeys.claimShards)).flatMap((item) => {
    try {
      return parseClaim(item) ?? [];
    } catch (error) {
      leaveOut(new Error(`The claim ${String(item['sk'])} cannot be read. ${String(error)}`, { cause: error }));
      return [];
    }
  });
}

function rethrow(error: unknown): never {
  throw error;
}

/** Reads the claims of all CVMs in a domain. */
export async function readClaimsOfDomain(table: Table, domain: string): Promise<Claim[]> {
  const shards = await Promise.all(cvmKeys.claimShards.map((shard) => queryPrefix(table, shard, cvmKeys.claimPrefix(domain))));
  return shards.flat().flatMap((item) => parseClaim(item) ?? []);
}

/** Reserves a CVM for a run. The transaction fails with StaleReadError if another run has claimed the CVM since it was read. */
export function addClaim(transaction: Transaction, claim: Claim): void {
  const Item = { ...keyToWrite(claimKey(claim)), ...schemaAttribute, ...claim };
  transaction.add({ put: { Item, ConditionExpression: 'attribute_not_exists(pk)' }, otherwise: StaleReadError });
}

type Token = 'offer_token' | 'run_token' | 'stop_token';

/**
 * A change of the claim that reserves a CVM for a run: attributes to set and to remove. The change fails if the claim has one of
 * the attributes in `unless`.
 */
export interface ClaimChange {
  set: Partial<Pick<Claim, 'accepted_at' | Token | 'outcome' | 'resumed'>>;
  remove?: Token[];
  unless?: ('accepted_at' | 'outcome' | Token)[];
}

/**
 * Changes the claim of a run on its CVM. The transaction fails with StaleReadError if another run has the CVM, or if the claim
 * has an attribute of `unless`.
 */
export function changeClaim(transaction: Transaction, claim: Claim, { set, remove = [], unless = [] }: ClaimChange): void {
  const update = setAttributesIf(stillClaimed(claim, unless), set);
  if (remove.length > 0) update.UpdateExpression += ` REMOVE ${remove.join(', ')}`;
  transaction.add({ update, otherwise: StaleReadError });
}

/**
 * Removes the claim of a run, which frees its CVM. The transaction fails with StaleReadError if the CVM has accepted the run, or the claim has
 * received an outcome, since it was read.
 */
export function removeClaim(transaction: Transaction, claim: Claim): void {
  const unless = (['accepted_at', 'outcome'] as const).filter((name) => claim[name] === undefined);
  transaction.add({ delete: stillClaimed(claim, unless), otherwise: StaleReadError });
}

/**
 * Adds a check to the transaction that a run still has the claim on its CVM. The transaction then fails with StaleReadError if
 * the run is over, or the claim has an attribute of `unless`.
 */
export function assertClaimed(
  transaction: Transaction,
  claim: CvmOfClaim & Pick<Claim, 'run_id'>,
  unless: 'outcome'[] = [],
): void {
  transaction.add({ check: stillClaimed(claim, unless), otherwise: StaleReadError });
}

/**
 * Adds a check to the transaction that no run has a claim on a CVM. The transaction then fails with StaleReadError if a run
 * holds the CVM.
 */
export function assertUnclaimed(transaction: Transaction, cvm: CvmOfClaim): void {
  const check = { Key: keyToWrite(claimKey(cvm)), ConditionExpression: 'attribute_not_exists(pk)' };
  transaction.add({ check, otherwise: StaleReadError });
}

function stillClaimed(claim: CvmOfClaim & Pick<Claim, 'run_id'>, unless: string[] = []) {
  return {
    Key: keyToWrite(claimKey(claim)),
    ConditionExpression: ['run_id = :run_id', ...unless.map((name) => `attribute_not_exists(${name})`)].join(' AND '),
    ExpressionAttributeValues: { ':run_id': claim.run_id },
  };
}

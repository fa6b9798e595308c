import * as v from 'valibot';
import { runReference, type RunReference } from '../computations/run.ts';
import { StaleReadError } from '../table/fresh-reads.ts';
import { cvmKeys, keyToWrite, type Key, type RowKey } from '../table/keys.ts';
import { parseStored, schemaAttribute } from '../table/parse-stored.ts';
import { getItem, queryPartition, queryPrefix, type Item, type Table } from '../table/table.ts';
import type { Transaction } from '../table/transaction.ts';
import { setAttributes } from '../table/writes.ts';
import { ending } from './ways-to-end.ts';

const storedClaim = v.object({
  ...runReference.entries,
  claimed_at: v.string(),
  run_command_id: v.string(),
  stop_command_id: v.string(),
  /** Whether a private key is stored in addition to the run's snapshot. */
  has_server_key: v.boolean(),
  accepted_at: v.optional(v.string()),
  /** Task tokens of waiting steps. That of the offer is removed when the step that waits for the outcome leaves its own. */
  offer_token: v.optional(v.string()),
  run_token: v.optional(v.string()),
  stop_token: v.optional(v.string()),
  /** How often the run was resumed by an execution of another name, because the name before was taken. */
  resumed: v.optional(v.number()),
  /** The first outcome that was reported. The run ends with it; later outcomes are ignored. */
  outcome: v.optional(ending),
});

/**
 * Reserves a CVM for one active run. The claim is created with the run and deleted when the run ends. It contains what only an
 * active run needs.
 */
export type Claim = v.InferOutput<typeof storedClaim>;

/** The CVM that a claim is of. */
export type CvmOfClaim = Pick<RunReference, 'domain' | 'cvm_id'>;

export function claimKey({ domain, cvm_id }: CvmOfClaim): RowKey {
  return cvmKeys.claim(domain, cvm_id);
}

/** Parses the claim of a CVM, of any run. Returns undefined if there is none. */
export function parseClaim(item: Item | undefined): Claim | undefined {
  return item && parseStored(storedClaim, item, 'claim');
}

/** Parses the claim of this run. Returns undefined if the run is over. @param item the claim of its CVM, of any run */
export function parseClaimOf({ run_id }: Pick<RunReference, 'run_id'>, item: Item | undefined): Claim | undefined {
  return item?.['run_id'] === run_id ? parseClaim(item) : undefined;
}

/** Reads the claim of this run in one round trip. Returns undefined if the run is over. */
export async function readClaim(table: Table, run: RunReference): Promise<Claim | undefined> {
  return parseClaimOf(run, await getItem(table, claimKey(run)));
}

/**
 * Reads all claims of the stage, one for each active run.
 * @param leaveOut called with an error for each claim that cannot be read, such as one of another version. Default: throws it
 */
export async function readClaims(table: Table, leaveOut: (error: unknown) => void = rethrow): Promise<Claim[]> {
  const shards = await Promise.all(cvmKeys.claimShards.map((shard) => queryPartition(table, shard)));
  return shards.flat().flatMap((item) => {
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

/** Reads all claims of a domain, one for each of its active runs. */
export async function readClaimsOfDomain(table: Table, domain: string): Promise<Claim[]> {
  const shards = await Promise.all(cvmKeys.claimShards.map((shard) => queryPrefix(table, shard, cvmKeys.claimPrefix(domain))));
  return shards.flat().flatMap((item) => parseClaim(item) ?? []);
}

/** Claims a CVM. Fails with StaleReadError if another run has claimed it since it was read. */
export function addClaim(transaction: Transaction, claim: Claim): void {
  const Item = { ...keyToWrite(claimKey(claim)), ...schemaAttribute, ...claim };
  transaction.add({ put: { Item, ConditionExpression: 'attribute_not_exists(pk)' }, otherwise: new StaleReadError() });
}

type Token = 'offer_token' | 'run_token' | 'stop_token';

export interface ClaimChange {
  /** One attribute or more. */
  set: Partial<Pick<Claim, 'accepted_at' | Token | 'outcome' | 'resumed'>>;
  remove?: Token[];
  /** The change fails if the claim has one of these. */
  unless?: ('accepted_at' | 'outcome' | Token)[];
}

/** Changes a claim. Fails with StaleReadError if it belongs to another run by then, or has an attribute of `unless`. */
export function changeClaim(transaction: Transaction, claim: Claim, { set, remove = [], unless = [] }: ClaimChange): void {
  const condition = stillClaimed(claim, unless);
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

/** Frees the CVM. Fails with StaleReadError if the claim has received an outcome since it was read. */
export function removeClaim(transaction: Transaction, claim: Claim): void {
  transaction.add({ delete: stillClaimed(claim, claim.outcome ? [] : ['outcome']), otherwise: new StaleReadError() });
}

/** Makes the transaction fail with StaleReadError if the run is over. */
export function assertClaimed(transaction: Transaction, claim: Claim): void {
  transaction.add({ check: stillClaimed(claim), otherwise: new StaleReadError() });
}

/** Makes the transaction fail with StaleReadError if a run holds the CVM. */
export function assertUnclaimed(transaction: Transaction, cvm: CvmOfClaim): void {
  const check = { Key: keyToWrite(claimKey(cvm)), ConditionExpression: 'attribute_not_exists(pk)' };
  transaction.add({ check, otherwise: new StaleReadError() });
}

interface ClaimCondition {
  Key: Key;
  ConditionExpression: string;
  ExpressionAttributeValues: Record<string, unknown>;
}

/** The condition that the claim still belongs to its run and has none of the attributes in `unless`. */
function stillClaimed(claim: Claim, unless: string[] = []): ClaimCondition {
  return {
    Key: keyToWrite(claimKey(claim)),
    ConditionExpression: ['run_id = :run_id', ...unless.map((name) => `attribute_not_exists(${name})`)].join(' AND '),
    ExpressionAttributeValues: { ':run_id': claim.run_id },
  };
}

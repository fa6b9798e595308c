import * as v from 'valibot';
import { StaleReadError } from '../table/fresh-reads.ts';
import { cvmKeys, keyToWrite, type Key, type RowKey } from '../table/keys.ts';
import { parseStored, schemaAttribute } from '../table/parse-stored.ts';
import { setAttributes } from '../table/writes.ts';
import { getItems, queryPartition, queryPrefix, type Item, type Table } from '../table/table.ts';
import type { Transaction } from '../table/transaction.ts';
import { runReference, type RunReference } from './run-reference.ts';
import { ending } from './ways-to-end.ts';

const storedClaim = v.object({
  ...runReference.entries,
  claimed_at: v.string(),
  run_command_id: v.string(),
  stop_command_id: v.string(),
  /** Whether a private key is stored in addition to the run's snapshot. Claims of earlier versions lack this field. */
  has_server_key: v.optional(v.boolean()),
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

/** A claim and the key at which it was read. */
export interface ReadClaim extends Claim {
  key: RowKey;
}

/** The CVM that a claim is of. */
export type CvmOfClaim = Pick<RunReference, 'domain' | 'cvm_id'>;

/** Returns the keys at which a CVM's claim may be stored, for parseClaim. */
export function claimKeys({ domain, cvm_id }: CvmOfClaim): [RowKey, RowKey] {
  return [cvmKeys.claim(domain, cvm_id), cvmKeys.unshardedClaim(domain, cvm_id)];
}

/** Parses the CVM's claim, of any run, from the items read at claimKeys. */
export function parseClaim(cvm: CvmOfClaim, items: (Item | undefined)[]): ReadClaim | undefined {
  return claimsAt(cvm, items)[0];
}

/** Parses the claim of this run from the items read at claimKeys. Returns undefined if the run is over. */
export function parseClaimOf(run: RunReference, items: (Item | undefined)[]): ReadClaim | undefined {
  const [claim] = claimsAt(
    run,
    items.map((item) => (item?.['run_id'] === run.run_id ? item : undefined)),
  );
  return claim;
}

/** Parses what was read again at a claim's key. Returns undefined if the CVM was freed since. */
export function parseClaimAgain({ key, run_id }: ReadClaim, item: Item | undefined): ReadClaim | undefined {
  return item?.['run_id'] === run_id ? { ...parseStoredClaim(item), key } : undefined;
}

function claimsAt(cvm: CvmOfClaim, items: (Item | undefined)[]): ReadClaim[] {
  return claimKeys(cvm).flatMap((key, index) => (items[index] ? [{ ...parseStoredClaim(items[index]), key }] : []));
}

function parseStoredClaim(item: Item): Claim {
  return parseStored(storedClaim, item, 'claim');
}

/** Reads the claim of this run in one round trip. Returns undefined if the run is over. */
export async function readClaim(table: Table, run: RunReference): Promise<ReadClaim | undefined> {
  return parseClaimOf(run, await getItems(table, claimKeys(run)));
}

/**
 * Reads all claims of the stage, one for each active run.
 * @param leaveOut called with an error for each claim that cannot be read, such as one of a newer version. Default: throws it
 */
export async function readClaims(table: Table, leaveOut: (error: unknown) => void = rethrow): Promise<Claim[]> {
  const shards = await Promise.all(cvmKeys.claimShards.map((shard) => queryPartition(table, shard)));
  return shards.flat().flatMap((item) => {
    try {
      return [parseStoredClaim(item)];
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
  return shards.flat().map(parseStoredClaim);
}

/** Claims a CVM. Fails with StaleReadError if another run has claimed it since it was read. */
export function addClaim(transaction: Transaction, claim: Claim): void {
  const Item = { ...keyToWrite(cvmKeys.claim(claim.domain, claim.cvm_id)), ...schemaAttribute, ...claim };
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
export function changeClaim(transaction: Transaction, claim: ReadClaim, { set, remove = [], unless = [] }: ClaimChange): void {
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
export function removeClaim(transaction: Transaction, claim: ReadClaim): void {
  transaction.add({ delete: stillClaimed(claim, claim.outcome ? [] : ['outcome']), otherwise: new StaleReadError() });
}

/** Makes the transaction fail with StaleReadError if the run is over. */
export function assertClaimed(transaction: Transaction, claim: ReadClaim): void {
  transaction.add({ check: stillClaimed(claim), otherwise: new StaleReadError() });
}

/** Makes the transaction fail with StaleReadError if a run holds the CVM. */
export function assertUnclaimed(transaction: Transaction, cvm: CvmOfClaim): void {
  for (const key of claimKeys(cvm)) {
    const check = { Key: keyToWrite(key), ConditionExpression: 'attribute_not_exists(pk)' };
    transaction.add({ check, otherwise: new StaleReadError() });
  }
}

interface ClaimCondition {
  Key: Key;
  ConditionExpression: string;
  ExpressionAttributeValues: Record<string, unknown>;
}

/** The condition that the claim still belongs to its run and has none of the attributes in `unless`. */
function stillClaimed({ key, run_id }: ReadClaim, unless: string[] = []): ClaimCondition {
  return {
    Key: keyToWrite(key),
    ConditionExpression: ['run_id = :run_id', ...unless.map((name) => `attribute_not_exists(${name})`)].join(' AND '),
    ExpressionAttributeValues: { ':run_id': run_id },
  };
}

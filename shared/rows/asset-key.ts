import * as v from 'valibot';
import { attestationPolicy } from 'computation-management-formats/attestation';
import { described, orNull, shownText } from 'computation-management-formats/fields';
import { assetKeys, runKeys, releaseKeys } from '../table/keys.ts';
import { parseStored } from '../table/stored.ts';
import { type Item, type Table, queryPrefix } from '../table/table.ts';
import { type Action, StaleReadError, type Transaction } from '../table/transaction.ts';
import { setAttributes, hasAttributes, isAbsent } from '../table/writes.ts';
import { type OfRun, runReference, type RunReference } from './run.ts';
import { sealedKeyAttributes, type StoredKey, storedKeyOf } from './sealed-key.ts';

/** The most releases of a key to the CVM of one run. */
export const mostReleases = 4;

/** The holders of keys of assets: the service, or a party with its broker. */
const keyHolders = ['service', 'party'] as const;

/** The schemas of the properties of an asset's key that parties rely on. A run keeps them with its snapshot. */
export const shownKey = {
  fingerprint: shownText(64, 'The SHA-256 of the key in hex.'),
  held: described(
    v.picklist(keyHolders),
    'Who holds the key and can open it. `service`: the service. `party`: the creator of the asset, with a broker.',
  ),
  release_policy: orNull(
    attestationPolicy,
    'Which CVMs may get the key, beside the policy of the computation. null: that of the computation decides.',
  ),
};

/** Schema of the key of an asset as the row of the asset has it, without the secret. */
export const assetKeyOfRow = v.object({ ...shownKey, number: v.number() });
export type AssetKey = v.InferOutput<typeof assetKeyOfRow>;

/** Returns the path of an asset's key in the key broker of its domain. It is the same for every key of the asset. */
export function pathOfKey(assetId: string): string {
  return `${assetId}/key/1`;
}

/**
 * Schema of the item at `assetKeys.key`: the totals of an asset's keys. It also has the fingerprint of the last key, and its secret,
 * encrypted, if the service holds it.
 */
const storedTotals = v.object({ releases: v.number(), last_released_at: v.nullable(v.string()), fingerprint: v.string() });

/** Parses how often keys of an asset were released, and when last. */
export function parseTotals(item: Item | undefined): { releases: number; last_released_at: string | null } {
  if (!item) return { releases: 0, last_released_at: null };
  const { releases, last_released_at } = parseStored(storedTotals, item, 'key of an asset');
  return { releases, last_released_at };
}

/**
 * Parses the encrypted key of an asset. Returns '' if a party holds it.
 * @throws StaleReadError if the item is of another key than the row of the asset
 */
export function parseSecret(item: Item | undefined, { fingerprint }: AssetKey): StoredKey | '' {
  if (!item || parseStored(storedTotals, item, 'key of an asset').fingerprint !== fingerprint) throw new StaleReadError();
  return storedKeyOf(item);
}

/**
 * Returns the write that replaces the encrypted key of an asset and leaves the totals as they are.
 * @param secret '' if the service holds none
 */
export function setSecret(assetId: string, secret: StoredKey | '', fingerprint: string): Action {
  const kept = secret === '' ? {} : sealedKeyAttributes(secret);
  const set = setAttributes({ fingerprint, ...kept });
  const totals = 'releases = if_not_exists(releases, :none), last_released_at = if_not_exists(last_released_at, :never)';
  return {
    update: {
      ...set,
      Key: assetKeys.key(assetId),
      UpdateExpression: `${set.UpdateExpression}, ${totals}${secret === '' ? ' REMOVE sealed_key, key_digest' : ''}`,
      ExpressionAttributeValues: { ...set.ExpressionAttributeValues, ':none': 0, ':never': null },
    },
  };
}

const storedKeyOfRun = v.object({
  ...assetKeyOfRow.entries,
  asset: v.string(),
  creator: v.string(),
  /** The number of releases of the key in its run, at most `mostReleases`. */
  releases: v.number(),
});
/** The key of an asset as a run keeps it from its start to its end. `key` is '' unless the service holds it. */
export type KeyOfRun = v.InferOutput<typeof storedKeyOfRun> & { key: StoredKey | '' };

/** Returns the item with the key that a run keeps of an asset, at `runKeys.assetKey`. */
export function itemOfRun({ computation_id, run_id }: OfRun, { key, ...kept }: KeyOfRun) {
  return { ...runKeys.assetKey(computation_id, run_id, kept.asset), ...kept, ...(key === '' ? {} : sealedKeyAttributes(key)) };
}

/** Parses the key that a run keeps of an asset. Undefined if the run is over, or the asset had no key when it started. */
export function parseKeyOfRun(item: Item | undefined): KeyOfRun | undefined {
  return item && { ...parseStored(storedKeyOfRun, item, 'key of a run'), key: storedKeyOf(item) };
}

/** The most refusals of keys of a run that its journal has. */
export const mostRefusals = 20;

const keyRefusals = v.object({
  count: v.number(),
  /** The last refusal of each asset whose key was not released since, the newest last. */
  open: v.array(v.object({ asset: v.string(), sentence: v.string() })),
});
/** The refusals of keys of a run. */
type KeyRefusals = v.InferOutput<typeof keyRefusals>;

/** Parses the refusals of keys of a run. @param item read at `runKeys.refusals` */
export const parseRefusals = (item: Item | undefined): KeyRefusals =>
  item ? parseStored(keyRefusals, item, 'refusals of keys') : { count: 0, open: [] };

/** Returns the refusals of keys of a run without those of an asset, such as one whose key is released. */
export const openWithout = ({ open }: KeyRefusals, asset: string) => open.filter((each) => each.asset !== asset);

/** Returns the action that stores the refusals of keys of a run. The transaction fails with StaleReadError if there was another one. */
export function putRefusals({ computation_id, run_id }: OfRun, before: KeyRefusals, after: KeyRefusals): Action {
  const condition = before.count === 0 ? isAbsent : hasAttributes({ count: before.count });
  return {
    put: { Item: { ...runKeys.refusals(computation_id, run_id), ...after }, ...condition },
    otherwise: StaleReadError,
  };
}

const keyedRun = v.object({
  ...runReference.entries,
  /** True if a party holds one of the run's keys. */
  asks_parties: v.boolean(),
});
/** A run that is active and has an asset with a key. */
export type KeyedRun = v.InferOutput<typeof keyedRun>;

/** Adds to the transaction that starts a run with keys that it has some. */
export function addKeyedRun(transaction: Transaction, reference: RunReference, keys: readonly KeyOfRun[]): void {
  const asks_parties = keys.some(({ held }) => held === 'party');
  transaction.add({ put: { Item: { ...releaseKeys.run(reference.domain, reference.run_id), ...reference, asks_parties } } });
}

/** Adds to the transaction that ends a run that its keys are released no more. */
export function removeKeyedRun(transaction: Transaction, { domain, run_id }: RunReference): void {
  transaction.add({ delete: { Key: releaseKeys.run(domain, run_id) } });
}

/** Reads the active runs of a domain that have keys. One read. */
export async function readKeyedRuns(table: Table, domain: string): Promise<KeyedRun[]> {
  const items = await queryPrefix(table, releaseKeys.partition(domain), releaseKeys.prefixes.run);
  return items.map((item) => parseStored(keyedRun, item, 'run with keys'));
}

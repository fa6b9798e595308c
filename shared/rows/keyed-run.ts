import * as v from 'valibot';
import { releaseKeys, runKeys } from '../table/keys.ts';
import { parseStored } from '../table/stored.ts';
import { type Item, queryPrefix, type Table } from '../table/table.ts';
import { type Action, StaleReadError, type Transaction } from '../table/transaction.ts';
import { hasAttributes, isAbsent } from '../table/writes.ts';
import type { KeyOfRun } from './asset-key.ts';
import { type OfRun, runReference, type RunReference } from './run.ts';

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

/** Adds to the transaction that starts a run that it has keys. Adds nothing for a run without. */
export function addKeyedRun(transaction: Transaction, reference: RunReference, keys: readonly KeyOfRun[]): void {
  if (keys.length === 0) return;
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

import { sealedKeyAttributes, storedKeyOf, withoutServerKey } from '../computations/agent-config.ts';
import type { RunReference } from '../computations/run.ts';
import { storedSnapshot, type RunSnapshot } from '../manifest/run-snapshot.ts';
import { runKeys, type Key } from '../table/keys.ts';
import { parseStored, schemaAttribute } from '../table/parse-stored.ts';
import { getItem, type Item, type Table } from '../table/table.ts';
import type { Transaction } from '../table/transaction.ts';

type OfRun = Pick<RunReference, 'computation_id' | 'run_id'>;

/** Stores the snapshot of a run. The private key is a separate item, because it is deleted when the run ends. */
export function addSnapshot(
  transaction: Transaction,
  { computation_id, run_id }: OfRun,
  { agent_config, ...rest }: RunSnapshot,
): void {
  const { server_key } = agent_config;
  const Item = {
    ...runKeys.snapshot(computation_id, run_id),
    ...schemaAttribute,
    run_id,
    ...rest,
    agent_config: withoutServerKey(agent_config),
  };
  transaction.add({ put: { Item } });
  if (server_key === '') return;
  transaction.add({ put: { Item: { ...runKeys.serverKey(computation_id, run_id), ...sealedKeyAttributes(server_key) } } });
}

/** Deletes the private key that an ended run no longer needs. */
export function removeServerKey(transaction: Transaction, { computation_id, run_id }: OfRun): void {
  transaction.add({ delete: { Key: runKeys.serverKey(computation_id, run_id) } });
}

/** Returns the keys of an active run's snapshot, for parseSnapshot. */
export function snapshotKeys({ computation_id, run_id }: OfRun): [Key, Key] {
  return [runKeys.snapshot(computation_id, run_id), runKeys.serverKey(computation_id, run_id)];
}

/** Parses the snapshot and its private key from the items read at snapshotKeys. @throws Error if they are invalid */
export function parseSnapshot([snapshot, serverKey]: (Item | undefined)[]): RunSnapshot {
  const { agent_config, ...rest } = parseStored(storedSnapshot, snapshot, 'snapshot of a run');
  return { ...rest, agent_config: { ...agent_config, server_key: storedKeyOf(serverKey) } };
}

/** Returns the identifiers of the assets that a run uses. @param item read at runKeys.snapshot */
export function assetsOfRun(item: Item | undefined): string[] {
  return parseSnapshot([item]).assets.map(({ id }) => id);
}

/** Returns the creators of the assets that a run uses. None if the run was deleted meanwhile. */
export async function readCreators(table: Table, { computation_id, run_id }: OfRun): Promise<string[]> {
  const item = await getItem(table, runKeys.snapshot(computation_id, run_id));
  return item ? parseSnapshot([item]).assets.map(({ creator }) => creator) : [];
}

/** Returns whether a run was started with an asset. True if the run was deleted meanwhile. */
export async function usesAsset(table: Table, { computation_id, run_id }: OfRun, assetId: string): Promise<boolean> {
  const item = await getItem(table, runKeys.snapshot(computation_id, run_id));
  return item === undefined || assetsOfRun(item).includes(assetId);
}

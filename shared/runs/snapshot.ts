import { keyAttributes, storedKeyOf, withoutServerKey } from '../computations/agent-config.ts';
import { runSnapshot, type NewSnapshot, type RunSnapshot } from '../manifest/run-snapshot.ts';
import { runKeys, type Key } from '../table/keys.ts';
import { parseStored, schemaAttribute } from '../table/parse-stored.ts';
import { getItem, type Item, type Table } from '../table/table.ts';
import type { Transaction } from '../table/transaction.ts';
import type { RunReference } from './run-reference.ts';

type OfRun = Pick<RunReference, 'computation_id' | 'run_id'>;

/** Stores the snapshot of a run. The private key is a separate item, because it is deleted when the run ends. */
export function addSnapshot(
  transaction: Transaction,
  { computation_id, run_id }: OfRun,
  { agent_config, ...rest }: NewSnapshot,
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
  transaction.add({ put: { Item: { ...runKeys.serverKey(computation_id, run_id), ...keyAttributes(server_key) } } });
}

/** Deletes the private key that an ended run no longer needs. */
export function removeServerKey(transaction: Transaction, { computation_id, run_id }: OfRun): void {
  transaction.add({ delete: { Key: runKeys.serverKey(computation_id, run_id) } });
}

/**
 * Removes the private key that earlier versions stored in the snapshot of a run that is over. Fails if there is no snapshot.
 */
export function removeKeyFromSnapshot(transaction: Transaction, snapshotKey: Key): void {
  transaction.add({
    update: {
      Key: snapshotKey,
      UpdateExpression: 'REMOVE agent_config.server_key',
      ConditionExpression: 'attribute_exists(agent_config)',
    },
  });
}

/** The filter for snapshots that contain a private key, for scanPage. */
export const snapshotsWithKey = {
  FilterExpression: 'begins_with(sk, :snapshot) AND size(agent_config.server_key) > :none',
  ExpressionAttributeValues: { ':snapshot': runKeys.prefixes.snapshot, ':none': 0 },
};

/** Returns the keys of an active run's snapshot, for parseSnapshot. */
export function snapshotKeys({ computation_id, run_id }: OfRun): [Key, Key] {
  return [runKeys.snapshot(computation_id, run_id), runKeys.serverKey(computation_id, run_id)];
}

/** Parses the snapshot and its private key from the items read at snapshotKeys. @throws Error if they are invalid */
export function parseSnapshot([snapshot, serverKey]: (Item | undefined)[]): RunSnapshot {
  const parsed = parseStored(runSnapshot, snapshot, 'snapshot of a run');
  const plain = serverKey?.['server_key'] ?? parsed.agent_config.server_key;
  return { ...parsed, agent_config: { ...parsed.agent_config, server_key: storedKeyOf(serverKey, plain) } };
}

/** Returns the identifiers of the assets that a run uses. None for runs of earlier versions. @param item read at runKeys.snapshot */
export function assetsOfRun(item: Item | undefined): string[] {
  return assetsIn(item).map(({ id }) => id);
}

function assetsIn(item: Item | undefined) {
  return (item && parseSnapshot([item]).assets) ?? [];
}

/** Returns the creators of the assets that a run uses. None for runs of earlier versions. */
export async function readCreators(table: Table, { computation_id, run_id }: OfRun): Promise<string[]> {
  const item = await getItem(table, runKeys.snapshot(computation_id, run_id));
  return assetsIn(item).map(({ creator }) => creator);
}

/**
 * Returns whether a run was started with an asset. Also true for runs of earlier versions, which did not record their assets.
 */
export async function usesAsset(table: Table, { computation_id, run_id }: OfRun, assetId: string): Promise<boolean> {
  const item = await getItem(table, runKeys.snapshot(computation_id, run_id));
  const assets = item && parseSnapshot([item]).assets;
  return assets === undefined || assets.some(({ id }) => id === assetId);
}

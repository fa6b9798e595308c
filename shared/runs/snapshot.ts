import * as v from 'valibot';
import { agentConfigInput, withoutServerKey, type AgentConfig } from '../computations/agent-config.ts';
import { manifestSchema, type Manifest } from '../manifest/manifest.ts';
import { runKeys, type Key } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { schemaVersion } from '../table/schema-version.ts';
import type { Item } from '../table/table.ts';
import type { Transaction } from '../table/transaction.ts';
import type { RunReference } from './run-reference.ts';

/** What a run was started with. Later changes of its computation do not affect it. */
const snapshotSchema = v.object({
  manifest: manifestSchema,
  agent_config: v.object(agentConfigInput.entries),
});
export type Snapshot = v.InferOutput<typeof snapshotSchema>;

type OfRun = Pick<RunReference, 'computation_id' | 'run_id'>;

/** Stores the snapshot of a run. The private key is a separate item, because it is deleted when the run ends. */
export function addSnapshot(
  transaction: Transaction,
  { computation_id, run_id }: OfRun,
  snapshot: { manifest: Manifest; agent_config: AgentConfig },
): void {
  const { manifest, agent_config } = snapshot;
  const { server_key } = agent_config;
  const Item = {
    ...runKeys.snapshot(computation_id, run_id),
    ...schemaVersion('snapshot of a run'),
    run_id,
    manifest,
    agent_config: withoutServerKey(agent_config),
  };
  transaction.add({ put: { Item } });
  if (server_key) transaction.add({ put: { Item: { ...runKeys.serverKey(computation_id, run_id), server_key } } });
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
export function parseSnapshot([snapshot, serverKey]: (Item | undefined)[]): Snapshot {
  const agent_config = { ...(snapshot?.['agent_config'] as object | undefined), ...pickServerKey(serverKey) };
  return parseStored(snapshotSchema, { ...snapshot, agent_config }, 'snapshot of a run');
}

function pickServerKey(item: Item | undefined) {
  return item ? { server_key: item['server_key'] } : {};
}

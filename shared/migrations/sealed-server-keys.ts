import { sealedKeyAttributes } from '../computations/agent-config.ts';
import { sealKey } from '../computations/sealed-key.ts';
import { openKms } from '../kms.ts';
import { computationKeys, keyOfItem, runKeys } from '../table/keys.ts';
import { scanPage } from '../table/scan.ts';
import { deadlineOf, type Item, type Table } from '../table/table.ts';
import { ConditionFailedError, Transaction } from '../table/transaction.ts';
import type { Migration } from './migration.ts';

const itemsPerStep = 100;

/** The items with a private key in plain text: the configuration of a computation, and the key of an active run. */
const plainKeys = {
  FilterExpression:
    '(sk = :config AND size(agent_config.server_key) > :none) OR (begins_with(sk, :ofRun) AND attribute_exists(server_key))',
  ExpressionAttributeValues: {
    ':config': computationKeys.config('').sk,
    ':ofRun': runKeys.prefixes.serverKey,
    ':none': 0,
  },
};

/** Seals the private keys that earlier versions stored in plain text. They are read correctly before and after. */
export const sealedServerKeys: Migration = {
  name: 'sealed-server-keys',
  step: async (table, cursor) => {
    const attributes = ['pk', 'sk', 'agent_config', 'server_key'];
    const { items, next } = await scanPage(table, { after: cursor, limit: itemsPerStep, filter: plainKeys, attributes });
    let changed = 0;
    for (const item of items) if (await sealKeyOf(table, item)) changed += 1;
    return { next, changed };
  },
};

/** @returns false if the item has changed in the meantime: what changed it has sealed its key, or deleted it */
async function sealKeyOf(table: Table, item: Item): Promise<boolean> {
  const { agent_config, server_key } = item;
  const Key = keyOfItem(item);
  const path = server_key === undefined ? 'agent_config.server_key' : 'server_key';
  const plain = String(server_key ?? (agent_config as { server_key: unknown }).server_key);
  const kept = await sealKey(
    openKms(() => deadlineOf(table)),
    { computationId: computationKeys.idIn(Key.pk), plain },
  );
  if (kept === '') return false;
  const { sealed_key, key_digest } = sealedKeyAttributes(kept);
  const transaction = new Transaction();
  transaction.add({
    update: {
      Key,
      UpdateExpression: `SET sealed_key = :sealed, key_digest = :digest REMOVE ${path}`,
      ConditionExpression: `${path} = :plain`,
      ExpressionAttributeValues: { ':sealed': sealed_key, ':digest': key_digest, ':plain': plain },
    },
  });
  try {
    await transaction.commit(table);
    return true;
  } catch (error) {
    if (error instanceof ConditionFailedError) return false;
    throw error;
  }
}

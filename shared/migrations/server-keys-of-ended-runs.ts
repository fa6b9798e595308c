import { readClaims } from '../runs/claim.ts';
import { removeKeyFromSnapshot, snapshotsWithKey } from '../runs/snapshot.ts';
import { keyOfItem } from '../table/keys.ts';
import { scanPage } from '../table/scan.ts';
import { ConditionFailedError, Transaction } from '../table/transaction.ts';
import type { Migration } from './migration.ts';

const itemsPerStep = 100;

/**
 * Removes the agent's private key from the snapshots of ended runs. Earlier versions of the service stored it there. An active
 * run keeps its key until the transaction that ends it removes the key.
 */
export const serverKeysOfEndedRuns: Migration = {
  name: 'server-keys-of-ended-runs',
  step: async (table, cursor) => {
    const page = { after: cursor, limit: itemsPerStep, filter: snapshotsWithKey, attributes: ['pk', 'sk', 'run_id'] };
    const { items, next } = await scanPage(table, page);
    // Read after the snapshots: a run without a claim is over then. New runs have no key in their snapshots.
    const active = items.length === 0 ? [] : (await readClaims(table)).map((claim) => claim.run_id);
    const over = items.filter((item) => !active.includes(String(item['run_id'])));
    let changed = 0;
    for (const item of over) {
      const transaction = new Transaction();
      removeKeyFromSnapshot(transaction, keyOfItem(item));
      try {
        await transaction.commit(table);
        changed += 1;
      } catch (error) {
        if (!(error instanceof ConditionFailedError)) throw error; // purged in the meantime
      }
    }
    return { next, changed };
  },
};

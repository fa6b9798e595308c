import { randomUUID } from 'node:crypto';
import { closingKeys, type Key } from '../table/keys.ts';
import type { Item, Table } from '../table/table.ts';
import { StaleReadError, Transaction, type Action } from '../table/transaction.ts';

/**
 * Assets of a domain that are about to be deleted although they have more links than a transaction holds. No run may start
 * with them. Each domain has 64 items with the same content; the start of a run checks one of them.
 */
export interface ClosingAssets {
  key: Key;
  /** Undefined if the domain never had one. */
  version: number | undefined;
  ids: ReadonlySet<string>;
}

/** Longer than a deletion takes. A deletion that dies keeps its asset out of runs for no longer. */
const secondsToDelete = 30;

/** The name of an attribute is this, the asset and the deletion: `closing_<asset>_<deletion>`. No identifier contains `_`. */
const attributePrefix = 'closing_';

/** Returns the key of the item for parseClosingAssets. @param by spreads the checks over these items */
export function closingKey(domain: string, by: string): Key {
  return closingKeys.item(domain, by);
}

export function parseClosingAssets(key: Key, item: Item | undefined, now: string): ClosingAssets {
  const entries = Object.entries(item ?? {}).filter(([name]) => name.startsWith(attributePrefix));
  const ids = entries.filter(([, until]) => String(until) > now).flatMap(([name]) => name.split('_')[1] ?? []);
  return { key, version: item && Number(item['version']), ids: new Set(ids) };
}

/** Makes the transaction fail with StaleReadError if another asset has begun to close since the item was read. */
export function assertNoneBeganToClose(transaction: Transaction, { key, version }: ClosingAssets): void {
  transaction.add({
    check:
      version === undefined
        ? { Key: key, ConditionExpression: 'attribute_not_exists(pk)' }
        : {
            Key: key,
            ConditionExpression: '#version = :version',
            ExpressionAttributeNames: { '#version': 'version' },
            ExpressionAttributeValues: { ':version': version },
          },
    otherwise: new StaleReadError(),
  });
}

/** What one deletion has written. Another deletion of the same asset writes its own, so that none ends that of the other. */
export interface Closing {
  domain: string;
  attribute: string;
}

/** Keeps an asset out of runs. Every start that has read its inputs before, and has not written yet, reads them again. */
export async function closeAsset(table: Table, { domain, id }: { domain: string; id: string }, now: string): Promise<Closing> {
  const attribute = `${attributePrefix}${id}_${randomUUID()}`;
  const until = new Date(Date.parse(now) + secondsToDelete * 1000).toISOString();
  const transaction = new Transaction();
  for (const Key of closingKeys.items(domain)) {
    transaction.add({
      update: {
        Key,
        UpdateExpression: 'SET #closing = :until ADD #version :one',
        ExpressionAttributeNames: { '#closing': attribute, '#version': 'version' },
        ExpressionAttributeValues: { ':until': until, ':one': 1 },
      },
    });
  }
  await transaction.commit(table);
  return { domain, attribute };
}

/** Returns the actions that end what closeAsset began: the asset is deleted, or stays. */
export function reopenAsset({ domain, attribute }: Closing): Action[] {
  return closingKeys.items(domain).map((Key) => ({
    update: { Key, UpdateExpression: 'REMOVE #closing', ExpressionAttributeNames: { '#closing': attribute } },
  }));
}

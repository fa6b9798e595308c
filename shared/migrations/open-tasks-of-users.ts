import { addPendingTask, pendingKey } from '../assets/change-asset.ts';
import { assetKey, findAsset } from '../assets/read-asset.ts';
import { assertUnchanged } from '../computations/change-computation.ts';
import { computationKey, findComputation } from '../computations/read-computation.ts';
import { computationKeys, keyOfItem, listKeys, lists } from '../table/keys.ts';
import { readSettled } from '../table/read-settled.ts';
import { scanPage } from '../table/scan.ts';
import { deadlineOf, getItem, getItems, queryPartition, type Item, type Table } from '../table/table.ts';
import type { Action } from '../table/action.ts';
import { StaleReadError, Transaction, withFreshReads } from '../table/transaction.ts';
import { mirrorsOf } from '../todo/participation.ts';
import type { Migration } from './migration.ts';

const itemsPerStep = 100;
/** No computation or asset is begun with less time left. */
const rowTimeInMilliseconds = 2_000;

const kinds = { computations: lists.computations('').pk, assets: lists.assets('').pk };
const rowsOfBoth = {
  FilterExpression: 'begins_with(sk, :row) and (begins_with(pk, :computations) or begins_with(pk, :assets))',
  ExpressionAttributeValues: { ':row': listKeys.prefixes.row, ':computations': kinds.computations, ':assets': kinds.assets },
};

/**
 * Adds the items that a user's open tasks are read from, for the computations, links, keys and pending assets that earlier
 * versions wrote. Versions before ignore these items. A row that has them all is only read, so an interrupted step makes progress.
 */
export const openTasksOfUsers: Migration = {
  name: 'open-tasks-of-users',
  step: async (table, cursor) => {
    const page = { after: cursor, limit: itemsPerStep, filter: rowsOfBoth, attributes: ['pk', 'sk', 'id'] };
    const { items, next } = await scanPage(table, page);
    let changed = 0;
    for (const item of items) {
      if (deadlineOf(table).remaining < rowTimeInMilliseconds) return { next: cursor, changed, isUnfinished: true };
      const [pk, id] = [String(item['pk']), String(item['id'])];
      changed += pk.startsWith(kinds.computations)
        ? await mirrorComputation(table, pk.slice(kinds.computations.length), id)
        : await mirrorPending(table, pk.slice(kinds.assets.length), id);
    }
    return { next, changed };
  },
};

/** A transaction takes 100 actions, one of which checks the row. */
const writesPerTransaction = 99;

/** @returns the number of items added or changed */
async function mirrorComputation(table: Table, domain: string, id: string): Promise<number> {
  return await withFreshReads(table, async (table) => {
    const [item] = await readSettled(table, [computationKey(domain, id)]);
    const row = findComputation(item, id);
    if (!row) return 0; // deleted in the meantime
    const parts = await queryPartition(table, computationKeys.partition(id));
    const links = await withCreators(table, domain, parts.filter(isWithoutCreator));
    const mirrors = mirrorsOf({ domain, id, owner: row.owner }, [...parts, ...links]);
    const known = await getItems(table, mirrors);
    const missing = mirrors.filter((_, index) => !known[index]);
    // The creators first: unlinking deletes the mirror only of a link that has one.
    const writes = [...links.map(creatorOfLink), ...missing.map((key): Action => ({ put: { Item: { ...key } } }))];
    for (let start = 0; start < writes.length; start += writesPerTransaction) {
      const transaction = new Transaction();
      assertUnchanged(transaction, { domain, row });
      transaction.add(...writes.slice(start, start + writesPerTransaction));
      await transaction.commit(table);
    }
    return writes.length;
  });
}

/** Earlier versions did not store the creator of a linked asset with the link. */
function isWithoutCreator(part: Item): boolean {
  return 'asset_id' in part && !('created_by' in part);
}

/** Adds the creators of their assets to links. Leaves out links whose asset is being deleted. */
async function withCreators(table: Table, domain: string, links: Item[]): Promise<Item[]> {
  const ids = links.map((link) => String(link['asset_id']));
  const assets = await getItems(
    table,
    ids.map((id) => assetKey(domain, id)),
  );
  return links.flatMap((link, index) => {
    const asset = findAsset(assets[index], ids[index] ?? '');
    return asset ? [{ ...link, created_by: asset.created_by }] : [];
  });
}

function creatorOfLink(link: Item): Action {
  return {
    update: {
      Key: keyOfItem(link),
      UpdateExpression: 'SET created_by = :creator',
      ConditionExpression: 'asset_id = :asset',
      ExpressionAttributeValues: { ':creator': link['created_by'], ':asset': link['asset_id'] },
    },
    otherwise: new StaleReadError(),
  };
}

/** @returns the number of items added */
async function mirrorPending(table: Table, domain: string, id: string): Promise<number> {
  return await withFreshReads(table, async (table) => {
    const [item] = await readSettled(table, [assetKey(domain, id)]);
    const asset = findAsset(item, id);
    if (asset?.state !== 'pending' || (await getItem(table, pendingKey(domain, asset)))) return 0;
    const transaction = new Transaction();
    addPendingTask(transaction, domain, asset);
    await transaction.commit(table);
    return 1;
  });
}

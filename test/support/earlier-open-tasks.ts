import { keyOfItem, migrationKeys, userKeys } from '../../shared/table/keys.ts';
import type { Item, Table } from '../../shared/table/table.ts';
import { deleteItems } from '../../shared/table/writes.ts';
import { transact } from '../../shared/table/transaction.ts';
import { scan } from './lifecycle-inconsistencies.ts';

/** Whether an item is one of those that a user's open tasks are read from. */
export function isOpenTask({ pk }: Item): boolean {
  const [kind] = userKeys.partition('', '').split('#');
  return String(pk).startsWith(`${kind ?? ''}#`);
}

/**
 * Rewrites the table as versions before open tasks left it: no items of users, links that do not name the creator of their asset,
 * and a migration that has not begun.
 */
export async function forgetOpenTasks(table: Table): Promise<void> {
  const items = await scan(table);
  await deleteItems(table, [migrationKeys.state('open-tasks-of-users'), ...items.filter(isOpenTask).map(keyOfItem)]);
  for (const link of items.filter((item) => 'linked_as' in item)) {
    await transact(table, [{ update: { Key: keyOfItem(link), UpdateExpression: 'REMOVE created_by' } }]);
  }
}

import { TransactGetCommand } from '@aws-sdk/lib-dynamodb';
import { isCancelledForNow } from './cancellation.ts';
import type { AnyKey } from './keys.ts';
import { deadlineOf, type Item, type Table } from './table.ts';

/**
 * Reads up to 100 items, in the order of their keys, at one moment when no transaction is writing them. Two read units per 4 KB
 * of each item.
 *
 * Other reads may see only a part of a transaction: one item is new while another is still old. A change that asserts a row's
 * version and depends on other items must read the row with this function first. Then all later reads see everything that was
 * written together with this version, and any later write changes the version. A change whose other items have conditions of
 * their own, such as a link that must not exist, needs no settled read.
 * @throws ServiceError `unavailable` if transactions hold the items until the deadline
 */
export async function readSettled(table: Table, keys: AnyKey[]): Promise<(Item | undefined)[]> {
  const deadline = deadlineOf(table);
  const TransactItems = keys.map(({ pk, sk }) => ({ Get: { TableName: table.name, Key: { pk, sk } } }));
  for (let attempt = 1; ; attempt++) {
    try {
      const command = new TransactGetCommand({ TransactItems });
      const { Responses = [] } = await table.document.send(command, { abortSignal: deadline.signal() });
      return keys.map((_key, index) => Responses[index]?.Item);
    } catch (error) {
      if (!isCancelledForNow(error)) throw error;
      await deadline.pause(attempt, error);
    }
  }
}

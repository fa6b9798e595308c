import { indexKeys } from '../table/index-keys.ts';
import { getItem, type Table } from '../table/table.ts';
import { putItemIf } from '../table/writes.ts';
import { encodeHead, parseHead, type Head } from './head.ts';
import type { ListIndex } from './list-index.ts';

export async function readHead(table: Table, index: ListIndex): Promise<Head> {
  return parseHead(await getItem(table, indexKeys.head(index)));
}

/** Replaces the head with its next version, unless it has been replaced since it was read. @returns whether it was replaced */
export function commitHead(table: Table, index: ListIndex, head: Head): Promise<boolean> {
  const isNext =
    head.version === 1
      ? { ConditionExpression: 'attribute_not_exists(pk)' }
      : { ConditionExpression: 'version = :before', ExpressionAttributeValues: { ':before': head.version - 1 } };
  return putItemIf(table, { ...indexKeys.head(index), ...encodeHead(head) }, isNext);
}

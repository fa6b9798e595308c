import type { Key } from './keys.ts';
import type { Table } from './table.ts';
import { tryUpdate, type Update } from './writes.ts';

/**
 * Updates an item with a number if the condition holds. Creates the item if it does not exist.
 * @param attribute the number's name
 * @returns whether it was updated, and the number after that: the new one, or the one that did not meet the condition
 */
export async function updateNumberIf(
  table: Table,
  key: Key,
  attribute: string,
  update: Update & { ConditionExpression?: string },
): Promise<{ isDone: boolean; value: number }> {
  const result = await tryUpdate(table, key, update);
  if (result.isDone) return { isDone: true, value: Number(result.output.Attributes?.[attribute]) };
  return { isDone: false, value: Number(result.failure.Item?.[attribute]?.N) };
}

const counter = 'last_number';

/** Increments a counter item and returns its new value. An item that does not exist yet begins at 0. */
export async function incrementBy(table: Table, key: Key, by: number): Promise<number> {
  const { value } = await updateNumberIf(table, key, counter, {
    UpdateExpression: `ADD ${counter} :by`,
    ExpressionAttributeValues: { ':by': by },
  });
  return value;
}

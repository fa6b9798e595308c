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

/**
 * Increments a counter item.
 * @returns its new value; undefined if the item does not exist
 */
export async function incrementExisting(table: Table, key: Key): Promise<number | undefined> {
  const { isDone, value } = await updateNumberIf(table, key, counter, {
    UpdateExpression: `ADD ${counter} :one`,
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':one': 1 },
  });
  return isDone ? value : undefined;
}

/** Increments a counter item and returns its new value. An item that does not exist yet begins at `first`. */
export async function incrementFrom(table: Table, key: Key, first: number): Promise<number> {
  const { value } = await updateNumberIf(table, key, counter, {
    UpdateExpression: `SET ${counter} = if_not_exists(${counter}, :first) + :one`,
    ExpressionAttributeValues: { ':first': first, ':one': 1 },
  });
  return value;
}

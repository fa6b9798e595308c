import { ConditionalCheckFailedException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand, DeleteCommand, PutCommand, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb';
import { type AnyKey, type Key, type List, listKeys } from './keys.ts';
import { deadlineOf, processAll, type Table, until, type Item } from './table.ts';

/** Writes an item to the table. Replaces an item with the same key. */
export async function putItem(table: Table, item: Item & Key): Promise<void> {
  await table.document.send(new PutCommand({ TableName: table.name, Item: item }), until(deadlineOf(table)));
}

const writesPerBatch = 25;

/**
 * Writes items to the table, 25 per round trip. Replaces items with the same keys. Retries unprocessed items until the deadline
 * of their batch.
 */
export function putItems(table: Table, items: (Item & Key)[]): Promise<void> {
  return writeBatches(
    table,
    items.map((Item) => ({ PutRequest: { Item } })),
  );
}

/** Deletes items from the table, 25 per round trip. Retries unprocessed keys until the deadline of their batch. */
export function deleteItems(table: Table, keys: Key[]): Promise<void> {
  return deleteAny(table, keys);
}

/** Deletes the item of each thing, as `deleteItems` does. */
export function deleteItemsOf<Thing>(table: Table, things: readonly Thing[], keyOf: (thing: Thing) => Key): Promise<void> {
  return deleteItems(table, things.map(keyOf));
}

/**
 * Deletes items, also rows that only one file may write, and leaves lists and journals as they are. Only the code that deletes
 * all belongings of something may use it (shared/deletion/belongings.ts): it deletes lists and journals too.
 */
export function deleteAny(table: Table, keys: AnyKey[]): Promise<void> {
  return writeBatches(
    table,
    keys.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } })),
  );
}

type BatchWrite = { PutRequest: { Item: Item } } | { DeleteRequest: { Key: AnyKey } };

async function writeBatches(table: Table, writes: BatchWrite[]): Promise<void> {
  for (let start = 0; start < writes.length; start += writesPerBatch) {
    const deadline = deadlineOf(table);
    await processAll(deadline, writes.slice(start, start + writesPerBatch), async (unprocessed) => {
      const command = new BatchWriteCommand({ RequestItems: { [table.name]: unprocessed } });
      const { UnprocessedItems } = await table.document.send(command, until(deadline));
      return (UnprocessedItems?.[table.name] ?? []) as typeof unprocessed;
    });
  }
}

/** The condition of a write. Attributes whose names are reserved words of DynamoDB need `ExpressionAttributeNames`. */
export interface WriteCondition {
  ConditionExpression: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, unknown>;
}

/** The condition of a write that there is no item with its key. */
export const isAbsent = { ConditionExpression: 'attribute_not_exists(pk)' };

/** Returns the condition of a write that attributes of an item have the given values. Those that are undefined must be absent. */
export function hasAttributes(values: Record<string, unknown>) {
  const entries = Object.entries(values);
  const given = entries.filter(([, value]) => value !== undefined);
  const conditions = entries.map(([name, value]) =>
    value === undefined ? `attribute_not_exists(#old_${name})` : `#old_${name} = :old_${name}`,
  );
  return {
    ConditionExpression: conditions.join(' AND '),
    ExpressionAttributeNames: Object.fromEntries(entries.map(([name]) => [`#old_${name}`, name])),
    ExpressionAttributeValues: Object.fromEntries(given.map(([name, value]) => [`:old_${name}`, value])),
  };
}

/**
 * Writes an item to the table if a condition holds.
 * @returns whether the condition holds. An unknown outcome counts as a failure
 */
export async function putItemIf(table: Table, item: Item & Key, condition: WriteCondition): Promise<boolean> {
  const command = new PutCommand({ TableName: table.name, Item: item, ...condition });
  return (await attempt(table, (until) => table.document.send(command, until))).isDone;
}

/**
 * Deletes an item from the table if a condition holds.
 * @returns whether the condition holds
 */
export async function deleteItemIf(table: Table, key: Key, condition: WriteCondition): Promise<boolean> {
  const command = new DeleteCommand({ TableName: table.name, Key: { pk: key.pk, sk: key.sk }, ...condition });
  return (await attempt(table, (until) => table.document.send(command, until))).isDone;
}

/** The expression that says what an update of an item changes. */
export type Update = Pick<UpdateCommandInput, 'UpdateExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'>;

/**
 * Updates an item of the table if a condition holds.
 * @returns whether the condition holds
 */
export async function updateIf(table: Table, key: Key, update: Update, condition: WriteCondition): Promise<boolean> {
  const names = { ...update.ExpressionAttributeNames, ...condition.ExpressionAttributeNames };
  const values = { ...update.ExpressionAttributeValues, ...condition.ExpressionAttributeValues };
  const withNames = Object.keys(names).length > 0 && { ExpressionAttributeNames: names }; // DynamoDB refuses an empty object
  return (await tryUpdate(table, key, { ...update, ...condition, ...withNames, ExpressionAttributeValues: values })).isDone;
}

/**
 * Updates an item if it exists. The SDK may send an update twice, so its effect must not depend on how often it is made.
 * @returns the whole item after the update, or undefined if it does not exist
 * @throws ServiceError `unavailable` if transactions hold the item until the deadline
 */
export async function updateExisting(table: Table, key: Key, update: Update): Promise<Item | undefined> {
  const result = await tryUpdate(table, key, { ...update, ConditionExpression: 'attribute_exists(pk)' });
  return result.isDone ? result.output.Attributes : undefined;
}

/**
 * The result of a write with a condition. If the condition does not hold, `failure.Item` is the item as it is, if the write asked
 * for it.
 */
type Attempt<Output> = { isDone: true; output: Output } | { isDone: false; failure: ConditionalCheckFailedException };

/**
 * Updates an item if its condition holds. Returns the whole item after the update, or the item that did not meet the condition.
 * An update without a condition creates the item if it does not exist.
 */
export function tryUpdate(table: Table, key: Key, update: Update & { ConditionExpression?: string }) {
  const command = new UpdateCommand({
    TableName: table.name,
    Key: { pk: key.pk, sk: key.sk },
    ...update,
    ReturnValues: 'ALL_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  return attempt(table, (until) => table.document.send(command, until));
}

/** Sends a write to the table. Retries while a transaction holds the item, until the deadline. */
async function attempt<Output>(
  table: Table,
  send: (until: { abortSignal: AbortSignal }) => Promise<Output>,
): Promise<Attempt<Output>> {
  const deadline = deadlineOf(table);
  try {
    const output = await deadline.retry(
      () => send(until(deadline)),
      (error) => error instanceof TransactionConflictException,
    );
    return { isDone: true, output };
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return { isDone: false, failure: error };
    throw error;
  }
}

/**
 * Updates an item and returns the number in one of its attributes. Creates the item if it does not exist and the update has no
 * condition against that.
 * @returns whether the item was updated, and the number after that: the new one, or the one that did not meet the condition
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

/** Adds `by` to a counter in an item of the table and returns the sum. A counter whose item does not exist yet begins at 0. */
export async function incrementBy(table: Table, key: Key, by: number): Promise<number> {
  const { value } = await updateNumberIf(table, key, counter, {
    UpdateExpression: `ADD ${counter} :by`,
    ExpressionAttributeValues: { ':by': by },
  });
  return value;
}

/** Returns the expression that sets the given attributes in an update of an item. Its placeholders start with `new_`. */
export function setAttributes(changes: Record<string, unknown>) {
  const entries = Object.entries(changes);
  return {
    UpdateExpression: `SET ${entries.map(([name]) => `#new_${name} = :new_${name}`).join(', ')}`,
    ExpressionAttributeNames: Object.fromEntries(entries.map(([name]) => [`#new_${name}`, name])),
    ExpressionAttributeValues: Object.fromEntries(entries.map(([name, value]) => [`:new_${name}`, value])),
  };
}

/** Returns `setAttributes` for an update that is made only if a condition holds, with that condition. */
export function setAttributesIf<Condition extends WriteCondition>(condition: Condition, changes: Record<string, unknown>) {
  const set = setAttributes(changes);
  const ExpressionAttributeNames = { ...set.ExpressionAttributeNames, ...condition.ExpressionAttributeNames };
  const ExpressionAttributeValues = { ...set.ExpressionAttributeValues, ...condition.ExpressionAttributeValues };
  return { ...condition, ...set, ExpressionAttributeNames, ExpressionAttributeValues };
}

/** Returns the next number for a new row of a list. Numbers are never reused. Costs one round trip and one write unit. */
export function nextNumber(table: Table, list: List): Promise<number> {
  return incrementBy(table, listKeys.counter(list), 1);
}

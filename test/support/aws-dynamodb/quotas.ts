import { itemSize } from './item-size.ts';
import type { BatchGetRequest, BatchWriteRequest, ItemRequest, Json, WireItem } from './wire.ts';
import { validationError } from './wire-error.ts';

const maxItemBytes = 400 * 1024;
export const maxPageBytes = 1024 * 1024;
export const maxBatchBytes = 16 * 1024 * 1024;
const maxTransactionBytes = 4 * 1024 * 1024;
const maxActions = 100;
const maxBatchWrites = 25;
const maxBatchKeys = 100;
const maxExpressionBytes = 4096;

const expressions = [
  'KeyConditionExpression',
  'FilterExpression',
  'ProjectionExpression',
  'ConditionExpression',
  'UpdateExpression',
] as const;

/** @throws WireError if an expression of the request, or of an action in it, is longer than 4 KB. */
export function checkExpressions(request: Json): void {
  for (const name of expressions) {
    const expression = request[name];
    const bytes = typeof expression === 'string' ? Buffer.byteLength(expression) : 0;
    if (bytes > maxExpressionBytes) {
      throw validationError(`Invalid ${name}: Expression size has exceeded the maximum allowed size; expression size: ${bytes}`);
    }
  }
}

/** @throws WireError if the transaction has too few or too many actions. */
export function checkActions(actions: unknown[]): void {
  checkLength(actions, 'transactItems', maxActions);
}

/** @throws WireError if the transaction's data exceeds 4 MB: whole items, or keys and the values of expressions. */
export function checkTransactionSize(actions: ItemRequest[]): void {
  const bytes = actions.reduce(
    (sum, action) =>
      sum + itemSize(action.Item) + itemSize(action.Key) + itemSize(action['ExpressionAttributeValues'] as WireItem | undefined),
    0,
  );
  if (bytes > maxTransactionBytes) {
    throw validationError(
      'Collection size of items exceeded, which can also be caused by the aggregate size of the items in the transaction ' +
        'exceeding the 4MB limit',
    );
  }
}

/** @throws WireError if two actions of a transaction are on the same item. */
export function checkActionsDiffer(ids: string[]): void {
  if (new Set(ids).size < ids.length) throw validationError('Transaction request cannot include multiple operations on one item');
}

/** @throws WireError if the batch has too few or too many writes, or one of an item over 400 KB. */
export function checkBatchWrite({ RequestItems }: BatchWriteRequest): void {
  const writes = Object.values(RequestItems).flat();
  checkLength(writes, 'requestItems', maxBatchWrites);
  for (const write of writes) {
    if ('PutRequest' in write && itemSize(write.PutRequest.Item) > maxItemBytes)
      throw validationError('Item size has exceeded the maximum allowed size');
  }
}

/** @throws WireError if the batch has too few or too many keys. */
export function checkBatchGet({ RequestItems }: BatchGetRequest): void {
  const keys = Object.values(RequestItems).flatMap(({ Keys }) => Keys);
  if (keys.length > maxBatchKeys) throw validationError('Too many items requested for the BatchGetItem call');
  checkLength(keys, 'requestItems', maxBatchKeys);
}

/** @throws WireError if a batch names an item twice. */
export function checkKeysDiffer(ids: string[]): void {
  if (new Set(ids).size < ids.length) throw validationError('Provided list of item keys contains duplicates');
}

/** @throws WireError if the request's body exceeds 16 MB, the limit of a batch. */
export function checkRequestSize(bytes: number): void {
  if (bytes > maxBatchBytes) throw validationError('The request exceeds the maximum request size of 16 MB');
}

function checkLength(values: unknown[], name: string, most: number): void {
  if (values.length >= 1 && values.length <= most) return;
  const bound = values.length < 1 ? 'greater than or equal to 1' : `less than or equal to ${most}`;
  throw validationError(
    `1 validation error detected: Value '[${values.length} members]' at '${name}' failed to satisfy constraint: ` +
      `Member must have length ${bound}`,
  );
}

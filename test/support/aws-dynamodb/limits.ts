import {
  type BatchGetRequest,
  type BatchWriteRequest,
  type ItemRequest,
  type Json,
  validationError,
  type WireItem,
  type WireValue,
} from './wire.ts';
import type { TimerClock } from '../../../shared/runtime/deadline.ts';

/** Returns the size of an item in bytes by AWS's rules ("DynamoDB item sizes and formats"): attribute names and values. */
export function itemSize(item: WireItem | undefined): number {
  return Object.entries(item ?? {}).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueSize(value), 0);
}

const overheadOfCollection = 3;

export function valueSize(value: WireValue): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  if (value.N !== undefined) return numberSize(value.N);
  if (value.B !== undefined) return Buffer.byteLength(value.B, 'base64');
  if (value.SS) return sum(value.SS, (each) => Buffer.byteLength(each));
  if (value.NS) return sum(value.NS, numberSize);
  if (value.BS) return sum(value.BS, (each) => Buffer.byteLength(each, 'base64'));
  if (value.L) return overheadOfCollection + sum(value.L, (each) => 1 + valueSize(each));
  if (value.M) return overheadOfCollection + itemSize(value.M) + Object.keys(value.M).length;
  return 1;
}

/** Returns the bytes of a number: about one for every two significant digits, plus one, plus one for the sign. */
function numberSize(number: string): number {
  const digits = number
    .replace(/e.*$/i, '')
    .replace(/[-+.]/g, '')
    .replace(/^0+|0+$/g, '');
  return Math.ceil(digits.length / 2) + 1 + (number.startsWith('-') ? 1 : 0);
}

function sum<T>(values: T[], size: (value: T) => number): number {
  return values.reduce((total, value) => total + size(value), 0);
}

const bytesPerWriteUnit = 1024;
const bytesPerReadUnit = 4096;

/** Returns the write units of one item outside a transaction. */
export const writeUnits = (bytes: number) => Math.max(1, Math.ceil(bytes / bytesPerWriteUnit));

/** Returns the read units of a number of bytes, strongly consistent and outside a transaction. */
export const readUnits = (bytes: number) => Math.max(1, Math.ceil(bytes / bytesPerReadUnit));

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

export type UnitKind = 'read' | 'write';

/** The limits of one partition key. Unused units of `burstInSeconds` can be saved up. */
export interface UnitLimits {
  readUnitsPerSecond: number;
  writeUnitsPerSecond: number;
  burstInSeconds: number;
}

/** The limits of a partition of AWS. AWS guarantees no burst for a partition: one second of it is an assumption. */
export const unitLimitsOfAws: UnitLimits = { readUnitsPerSecond: 3000, writeUnitsPerSecond: 1000, burstInSeconds: 1 };

export type UnitFigures = Record<UnitKind, number>;

/** The units consumed per partition key since the start or the last reset. */
export interface Units {
  of: (partitionKey: string) => UnitFigures;
  /** Returns the figures by partition key, with the most write units first. All scans are under `scan`. */
  byPartitionKey: () => [partitionKey: string, figures: UnitFigures][];
  total: () => UnitFigures;
  /** The number of throttled requests, or items of a batch or transaction. */
  throttled: () => number;
  reset: () => void;
}

/**
 * Meters the consumed units and limits them per partition key, with a token bucket for reads and one for writes. As in DynamoDB,
 * a request is accepted while the bucket is not empty and then pays its actual cost, so that a bucket may go below zero.
 */
export interface UnitMeter extends Units {
  /** Reserves the minimum cost of a request. Returns false if the partition key is throttled. */
  reserve: (kind: UnitKind, partitionKey: string, units: number) => boolean;
  /** Replaces the reserved units with the consumed ones. */
  settle: (kind: UnitKind, partitionKey: string, reserved: number, consumed: number) => void;
}

interface Bucket {
  units: number;
  filledAt: number;
}

export function createUnitMeter(clock: TimerClock, limits?: UnitLimits): UnitMeter {
  const figures = new Map<string, UnitFigures>();
  const buckets: Record<UnitKind, Map<string, Bucket>> = { read: new Map(), write: new Map() };
  let throttled = 0;

  const bucketOf = (kind: UnitKind, partitionKey: string): Bucket => {
    if (!limits) return { units: Infinity, filledAt: 0 };
    const perSecond = kind === 'read' ? limits.readUnitsPerSecond : limits.writeUnitsPerSecond;
    const most = perSecond * limits.burstInSeconds;
    const now = clock.now();
    const bucket = buckets[kind].get(partitionKey) ?? { units: most, filledAt: now };
    bucket.units = Math.min(most, bucket.units + ((now - bucket.filledAt) / 1000) * perSecond);
    bucket.filledAt = now;
    buckets[kind].set(partitionKey, bucket);
    return bucket;
  };
  const of = (partitionKey: string) => figures.get(partitionKey) ?? { read: 0, write: 0 };

  return {
    reserve: (kind, partitionKey, units) => {
      const bucket = bucketOf(kind, partitionKey);
      if (bucket.units <= 0) {
        throttled++;
        return false;
      }
      bucket.units -= units;
      return true;
    },
    settle: (kind, partitionKey, reserved, consumed) => {
      bucketOf(kind, partitionKey).units += reserved - consumed;
      const known = of(partitionKey);
      figures.set(partitionKey, { ...known, [kind]: known[kind] + consumed });
    },
    of,
    byPartitionKey: () => [...figures].sort(([, a], [, b]) => b.write - a.write),
    total: () =>
      [...figures.values()].reduce((sum, each) => ({ read: sum.read + each.read, write: sum.write + each.write }), {
        read: 0,
        write: 0,
      }),
    throttled: () => throttled,
    reset: () => {
      figures.clear();
      throttled = 0;
    },
  };
}

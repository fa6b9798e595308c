import { keyOf, type KeySchema, partitionKeyOf } from './engine.ts';
import type { Front } from './front.ts';
import { asksForCapacity, withCapacity } from './items.ts';
import { itemSize, maxPageBytes, readUnits } from './limits.ts';
import { type Json, type PageAnswer, type PageRequest, throttlingError, type WireItem } from './wire.ts';

const leastReadUnits = 0.5;
/** The name for the units of scans, which belong to no partition key. */
const scanPartitionKey = 'scan';

/**
 * Reads a page of a Query or Scan. Its items are read piece by piece in the order of their keys, so that a page may show an
 * earlier item before a change and a later item after a later change. The engine reads a page with a filter, an index or a
 * nested projection in one piece.
 * @throws WireError ThrottlingException if the partition key has used up its read units
 */
export async function readPage(front: Front, operation: 'Query' | 'Scan', request: PageRequest): Promise<Json> {
  const schema = await front.keySchemas.of(request.TableName);
  const partitionKey = operation === 'Scan' ? scanPartitionKey : partitionKeyOfQuery(schema, request);
  const isLimited = operation === 'Query';
  if (isLimited && !front.meter.reserve('read', partitionKey, leastReadUnits)) throw throttlingError('read', request.TableName);

  let units = 0;
  try {
    await front.reveals.untilSettled();
    if (front.reveals.isPartlyVisible(partitionKey)) front.figures.readsOfPartlyVisible++;
    const names = projectedNames(request);
    const page = isPlain(request) && names !== 'nested' ? await inPieces(front, operation, request, schema, names) : undefined;
    const { ConsumedCapacity: consumed, ...answer } = page ?? (await front.engine.call(operation, withCapacity(request)));
    units = consumed?.CapacityUnits ?? leastReadUnits;
    return asksForCapacity(request) ? { ...answer, ConsumedCapacity: consumed } : { ...answer };
  } finally {
    front.meter.settle('read', partitionKey, isLimited ? leastReadUnits : 0, units);
  }
}

async function inPieces(
  front: Front,
  operation: 'Query' | 'Scan',
  request: PageRequest,
  schema: KeySchema,
  names: string[] | undefined,
): Promise<PageAnswer> {
  // Lets the engine check the projection, because the pieces are read without it.
  if (names) await front.engine.call(operation, { ...request, Limit: 1 });
  const { items, lastKey } = await readPieces(front, operation, withoutProjection(request), (item) => keyOf(schema, item));
  const units = readUnits(items.reduce((sum, item) => sum + itemSize(item), 0)) * (request.ConsistentRead ? 1 : 0.5);
  return {
    Items: names ? items.map((item) => project(item, names)) : items,
    Count: items.length,
    ScannedCount: items.length,
    ...(lastKey && { LastEvaluatedKey: lastKey }),
    ConsumedCapacity: { TableName: request.TableName, CapacityUnits: units },
  };
}

const takenAsTheyCome = [
  'FilterExpression',
  'IndexName',
  'Select',
  'AttributesToGet',
  'QueryFilter',
  'ScanFilter',
  'KeyConditions',
];

function isPlain(request: PageRequest): boolean {
  return takenAsTheyCome.every((field) => request[field] === undefined) && request.Limit !== 0;
}

/** Returns the attributes that a page shows. Undefined: all attributes. */
function projectedNames({ ProjectionExpression, ExpressionAttributeNames }: PageRequest): string[] | 'nested' | undefined {
  const paths = ProjectionExpression?.split(',').map((path) => path.trim());
  if (!paths?.every((path) => /^#?\w+$/.test(path))) return paths && 'nested';
  return paths.map((path) => (path.startsWith('#') ? (ExpressionAttributeNames?.[path] ?? path) : path));
}

/** Returns the request for whole items, without the names that only its projection uses. */
function withoutProjection({ ProjectionExpression, ExpressionAttributeNames, ...request }: PageRequest): PageRequest {
  if (!ExpressionAttributeNames) return request;
  const used = Object.entries(ExpressionAttributeNames).filter(
    ([alias]) => ProjectionExpression === undefined || (request.KeyConditionExpression ?? '').includes(alias),
  );
  return used.length > 0 ? { ...request, ExpressionAttributeNames: Object.fromEntries(used) } : request;
}

function project(item: WireItem, names: string[]): WireItem {
  return Object.fromEntries(names.flatMap((name) => (item[name] ? [[name, item[name]]] : [])));
}

/** Returns the partition key's value in a key condition of the form `name = :value`. */
function partitionKeyOfQuery(schema: KeySchema, request: PageRequest): string {
  for (const [, name = '', value = ''] of (request.KeyConditionExpression ?? '').matchAll(/([#\w.-]+)\s*=\s*(:\w+)/g)) {
    if ((request.ExpressionAttributeNames?.[name] ?? name) === schema.partitionKey)
      return partitionKeyOf(request.ExpressionAttributeValues?.[value]);
  }
  return partitionKeyOf(undefined);
}

/** The highest number of items in the first piece. It doubles for each further piece. */
const largestFirstPiece = 8;

interface Pieces {
  items: WireItem[];
  lastKey?: WireItem | undefined;
}

/** Reads the items of one page, up to its Limit and to 1 MB, in pieces of random size with pauses between them. */
async function readPieces(
  front: Front,
  operation: 'Query' | 'Scan',
  request: PageRequest,
  keyOf: (item: WireItem) => WireItem,
): Promise<Pieces> {
  const { engine, clock, random, durations } = front;
  const limit = request.Limit ?? Infinity;
  const items: WireItem[] = [];
  let size = 1 + Math.floor(random() * largestFirstPiece);
  let bytes = 0;
  let start = request.ExclusiveStartKey;
  for (;;) {
    const piece = await engine.call(operation, {
      ...request,
      Limit: Math.min(size, limit - items.length),
      ...(start && { ExclusiveStartKey: start }),
    });
    for (const item of piece.Items ?? []) {
      bytes += itemSize(item);
      const last = items.at(-1);
      if (bytes > maxPageBytes && last) return { items, lastKey: keyOf(last) };
      items.push(item);
    }
    if (!piece.LastEvaluatedKey || items.length >= limit) return { items, lastKey: piece.LastEvaluatedKey };
    start = piece.LastEvaluatedKey;
    size *= 2;
    if (durations.betweenReads > 0) await clock.wait(random() * durations.betweenReads);
  }
}

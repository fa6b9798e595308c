import { post } from '../post.ts';
import { valueSize } from './limits.ts';
import {
  type Capacity,
  type ItemRequest,
  type Json,
  type PageAnswer,
  validationError,
  WireError,
  type WireItem,
  type WireValue,
} from './wire.ts';

interface ItemAnswer {
  ConsumedCapacity?: Capacity;
}

interface Answers {
  GetItem: ItemAnswer & { Item?: WireItem };
  PutItem: ItemAnswer;
  UpdateItem: ItemAnswer;
  DeleteItem: ItemAnswer;
  Query: PageAnswer;
  Scan: PageAnswer;
  TransactWriteItems: Json;
  TransactGetItems: { Responses?: { Item?: WireItem }[] };
  BatchGetItem: { Responses?: Record<string, WireItem[]>; UnprocessedKeys?: Record<string, { Keys: WireItem[] }> };
  BatchWriteItem: Json;
  DescribeTable: { Table: { KeySchema: KeyElement[]; AttributeDefinitions: Json[] } };
  CreateTable: Json;
}

export interface KeyElement {
  AttributeName: string;
  KeyType: 'HASH' | 'RANGE';
}

/** The DynamoDB engine behind the front. Its error responses are thrown unchanged. */
export interface Engine {
  call: <Operation extends keyof Answers>(operation: Operation, request: object) => Promise<Answers[Operation]>;
  /** Any other operation. */
  forward: (operation: string, request: object) => Promise<Json>;
}

export function connectEngine(endpoint: string): Engine {
  const forward = async (operation: string, request: object): Promise<Json> => {
    const headers = {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
      'x-amz-date': '20260101T000000Z',
      authorization: 'AWS4-HMAC-SHA256 Credential=local/20260101/local/dynamodb/aws4_request, SignedHeaders=host, Signature=none',
    };
    const { status, text } = await post(endpoint, headers, JSON.stringify(request));
    const body = JSON.parse(text) as Json;
    if (status >= 300) throw new WireError(status, body);
    return body;
  };
  return { forward, call: async (operation, request) => (await forward(operation, request)) as never };
}

const maxPartitionKeyBytes = 2048;
const maxSortKeyBytes = 1024;

/** A reference to an item of a table. */
export interface ItemRef {
  /** Equal for two references to the same item. */
  id: string;
  tableName: string;
  /** The value of the partition key, by which units are metered. */
  partitionKey: string;
  key: WireItem;
}

export interface KeySchema {
  partitionKey: string;
  sortKey?: string | undefined;
}

/** The key schemas of the tables, read from the engine at the first use. */
export interface KeySchemas {
  of: (tableName: string) => Promise<KeySchema>;
  /** Returns the item that a request names by its key or puts. */
  refOf: (request: { TableName: string; Item?: WireItem; Key?: WireItem }) => Promise<ItemRef>;
  /** Forgets all schemas, because a table was created or deleted. */
  forget: () => void;
}

export function readKeySchemas(engine: Engine): KeySchemas {
  const known = new Map<string, KeySchema>();
  const of = async (tableName: string): Promise<KeySchema> => {
    const schema = known.get(tableName) ?? (await describe(engine, tableName));
    known.set(tableName, schema);
    return schema;
  };
  return {
    of,
    refOf: async ({ TableName, Item, Key }) => refOf(TableName, await of(TableName), Item, Key),
    forget: () => known.clear(),
  };
}

export function keyOf(schema: KeySchema, item: WireItem): WireItem {
  const names = [schema.partitionKey, schema.sortKey].filter((name) => name !== undefined);
  return Object.fromEntries(names.flatMap((name) => (item[name] ? [[name, item[name]]] : [])));
}

export function partitionKeyOf(value: WireValue | undefined): string {
  return value?.S ?? JSON.stringify(value ?? null);
}

async function describe(engine: Engine, tableName: string): Promise<KeySchema> {
  const { Table: table } = await engine.call('DescribeTable', { TableName: tableName });
  const nameOf = (type: string) => table.KeySchema.find(({ KeyType }) => KeyType === type)?.AttributeName;
  return { partitionKey: nameOf('HASH') ?? '', sortKey: nameOf('RANGE') };
}

function refOf(tableName: string, schema: KeySchema, item: WireItem | undefined, given: WireItem | undefined): ItemRef {
  const key = keyOf(schema, item ?? given ?? {});
  for (const name of [schema.partitionKey, schema.sortKey]) {
    if (name === undefined || key[name]) continue;
    if (item) throw validationError(`One or more parameter values were invalid: Missing the key ${name} in the item`);
    throw validationError('The provided key element does not match the schema');
  }
  if (given && Object.keys(given).length !== Object.keys(key).length)
    throw validationError('The provided key element does not match the schema');
  const [partition, sort] = [key[schema.partitionKey], key[schema.sortKey ?? '']];
  if (partition && valueSize(partition) > maxPartitionKeyBytes) {
    // Without the space, as in AWS's message.
    throw validationError(
      'One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes',
    );
  }
  if (sort && valueSize(sort) > maxSortKeyBytes) {
    throw validationError(
      'One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes',
    );
  }
  return {
    id: JSON.stringify([tableName, partition, sort]),
    tableName,
    partitionKey: partitionKeyOf(partition),
    key,
  };
}

/** An item before and after a transaction whose outcome is decided. Undefined: the item does not exist. */
export interface Change {
  ref: ItemRef;
  before: WireItem | undefined;
  after: WireItem | undefined;
}

/** An action of a transaction, and its item. */
export interface Action {
  ref: ItemRef;
  kind: string;
  request: ItemRequest;
}

/**
 * Decides the outcome of transactions without making it visible: the engine runs a transaction on copies of its items in another
 * table. Conditions, update expressions, size limits and cancellation reasons are the engine's. The caller holds the items, so
 * that nothing changes them or their copies in the meantime.
 */
export interface Rehearsal {
  /**
   * Returns what the transaction does to each of its items, in the order of the actions.
   * @throws WireError the engine's error if it refuses the transaction
   */
  decide: (actions: Action[]) => Promise<Change[]>;
  /** Returns the current items. */
  itemsOf: (refs: ItemRef[]) => Promise<(WireItem | undefined)[]>;
}

const writesPerBatch = 25;
const copyOf = (tableName: string) => `${tableName}.rehearsal`;
const onCopy = (ref: ItemRef): ItemRef => ({ ...ref, tableName: copyOf(ref.tableName) });

export function createRehearsal(engine: Engine): Rehearsal {
  const copies = new Map<string, Promise<void>>();
  const ensureCopy = (tableName: string) => {
    const made = copies.get(tableName) ?? createCopy(engine, tableName);
    copies.set(tableName, made);
    return made;
  };
  const itemsOf = (refs: ItemRef[]) => readAll(engine, refs);
  return {
    itemsOf,
    decide: async (actions) => {
      const refs = actions.map(({ ref }) => ref);
      await Promise.all([...new Set(refs.map(({ tableName }) => tableName))].map(ensureCopy));
      const before = await itemsOf(refs);
      await overwrite(engine, refs.map(onCopy), before);
      await engine.call('TransactWriteItems', {
        TransactItems: actions.map(({ ref, kind, request }) => ({
          [kind]: { ...request, TableName: copyOf(ref.tableName) },
        })),
      });
      const after = await itemsOf(refs.map(onCopy));
      return refs.map((ref, index) => ({ ref, before: before[index], after: after[index] }));
    },
  };
}

async function createCopy(engine: Engine, tableName: string): Promise<void> {
  const { Table: table } = await engine.call('DescribeTable', { TableName: tableName });
  const keyNames = table.KeySchema.map(({ AttributeName }) => AttributeName);
  await engine.call('CreateTable', {
    TableName: copyOf(tableName),
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: table.KeySchema,
    AttributeDefinitions: table.AttributeDefinitions.filter(({ AttributeName: name }) => keyNames.includes(String(name))),
  });
}

/** Returns up to 100 current items of any tables, in the order of the references. */
async function readAll(engine: Engine, refs: ItemRef[]): Promise<(WireItem | undefined)[]> {
  const byTable = Map.groupBy(refs, ({ tableName }) => tableName);
  const found = new Map<string, WireItem>();
  let open: Record<string, { Keys: WireItem[] }> = Object.fromEntries(
    [...byTable].map(([tableName, members]) => [tableName, { Keys: members.map(({ key }) => key) }]),
  );
  while (Object.keys(open).length > 0) {
    const RequestItems = Object.fromEntries(
      Object.entries(open).map(([tableName, { Keys }]) => [tableName, { Keys, ConsistentRead: true }]),
    );
    const { Responses, UnprocessedKeys } = await engine.call('BatchGetItem', { RequestItems });
    for (const [tableName, members] of byTable) {
      const names = Object.keys(members[0]?.key ?? {});
      for (const item of Responses?.[tableName] ?? []) found.set(placeOf(tableName, names, item), item);
    }
    open = UnprocessedKeys ?? {};
  }
  return refs.map(({ tableName, key }) => found.get(placeOf(tableName, Object.keys(key), key)));
}

function placeOf(tableName: string, keyNames: string[], item: WireItem): string {
  return JSON.stringify([tableName, ...keyNames.map((name) => item[name])]);
}

async function overwrite(engine: Engine, refs: ItemRef[], items: (WireItem | undefined)[]): Promise<void> {
  for (let start = 0; start < refs.length; start += writesPerBatch) {
    const writes = refs.slice(start, start + writesPerBatch).map(({ tableName, key }, index) => {
      const item = items[start + index];
      return { tableName, write: item ? { PutRequest: { Item: item } } : { DeleteRequest: { Key: key } } };
    });
    const byTable = Map.groupBy(writes, ({ tableName }) => tableName);
    await engine.call('BatchWriteItem', {
      RequestItems: Object.fromEntries(
        [...byTable].map(([tableName, members]) => [tableName, members.map(({ write }) => write)]),
      ),
    });
  }
}

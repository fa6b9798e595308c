import type { Engine } from './engine.ts';
import { valueSize } from './item-size.ts';
import type { WireItem, WireValue } from './wire.ts';
import { validationError } from './wire-error.ts';

const maxPartitionKeyBytes = 2048;
const maxSortKeyBytes = 1024;

/** One item of one table. */
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

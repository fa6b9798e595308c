import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactGetCommand,
  TransactWriteCommand,
  UpdateCommand,
  type QueryCommandInput,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import type { AnyKey } from '../../../shared/table/keys.ts';
import type { Table, Item } from '../../../shared/table/table.ts';

export type TransactAction = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** Short forms of the calls in the front's tests. Reads are strongly consistent. Errors are those of the SDK. */
export interface TableCommands {
  get: (key: AnyKey) => Promise<Item | undefined>;
  batchGet: (keys: AnyKey[]) => Promise<{ items: Item[]; unprocessed: Item[] }>;
  query: (pk: string, options?: Partial<QueryCommandInput>) => Promise<{ items: Item[]; lastKey: Item | undefined }>;
  transactGet: (keys: AnyKey[]) => Promise<(Item | undefined)[]>;
  put: (item: object) => Promise<void>;
  /** Adds one to the attribute `count`. */
  count: (key: AnyKey) => Promise<void>;
  remove: (key: AnyKey) => Promise<void>;
  batchPut: (items: object[]) => Promise<{ unprocessed: Item[] }>;
  transact: (actions: TransactAction[], token?: string) => Promise<void>;
  /** Builds the actions of a transaction. */
  putting: (item: object) => TransactAction;
  counting: (key: AnyKey) => TransactAction;
  removing: (key: AnyKey) => TransactAction;
  checking: (key: AnyKey, condition: 'attribute_exists(pk)' | 'attribute_not_exists(pk)') => TransactAction;
}

export function commandsOn({ name: TableName, document }: Table): TableCommands {
  const counting = (Key: AnyKey) => ({
    TableName,
    Key,
    UpdateExpression: 'ADD #count :one',
    ExpressionAttributeNames: { '#count': 'count' },
    ExpressionAttributeValues: { ':one': 1 },
  });
  return {
    get: async (Key) => {
      const { Item: item } = await document.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
      return item;
    },
    batchGet: async (Keys) => {
      const request = { [TableName]: { Keys, ConsistentRead: true } };
      const { Responses, UnprocessedKeys } = await document.send(new BatchGetCommand({ RequestItems: request }));
      return { items: Responses?.[TableName] ?? [], unprocessed: UnprocessedKeys?.[TableName]?.Keys ?? [] };
    },
    query: async (pk, options = {}) => {
      const { Items, LastEvaluatedKey } = await document.send(
        new QueryCommand({
          TableName,
          ConsistentRead: true,
          KeyConditionExpression: 'pk = :pk',
          ...options,
          ExpressionAttributeValues: { ':pk': pk, ...options.ExpressionAttributeValues },
        }),
      );
      return { items: Items ?? [], lastKey: LastEvaluatedKey };
    },
    transactGet: async (keys) => {
      const TransactItems = keys.map((Key) => ({ Get: { TableName, Key } }));
      const { Responses } = await document.send(new TransactGetCommand({ TransactItems }));
      return (Responses ?? []).map(({ Item: item }) => item);
    },
    put: async (item) => {
      await document.send(new PutCommand({ TableName, Item: { ...item } }));
    },
    count: async (key) => {
      await document.send(new UpdateCommand(counting(key)));
    },
    remove: async (Key) => {
      await document.send(new DeleteCommand({ TableName, Key }));
    },
    batchPut: async (items) => {
      const writes = items.map((item) => ({ PutRequest: { Item: { ...item } } }));
      const { UnprocessedItems } = await document.send(new BatchWriteCommand({ RequestItems: { [TableName]: writes } }));
      return { unprocessed: (UnprocessedItems?.[TableName] ?? []).map(({ PutRequest }) => PutRequest?.Item ?? {}) };
    },
    transact: async (TransactItems, ClientRequestToken) => {
      await document.send(new TransactWriteCommand({ TransactItems, ClientRequestToken }));
    },
    putting: (item) => ({ Put: { TableName, Item: { ...item } } }),
    counting: (key) => ({ Update: counting(key) }),
    removing: (Key) => ({ Delete: { TableName, Key } }),
    checking: (Key, ConditionExpression) => ({ ConditionCheck: { TableName, Key, ConditionExpression } }),
  };
}

/** Returns keys of one partition. */
export function keysIn(pk: string, count: number): AnyKey[] {
  return Array.from({ length: count }, (_, index) => ({ pk, sk: `item-${String(index).padStart(3, '0')}` }));
}

/** The parts of DynamoDB's JSON protocol that the front reads. */
export type Json = Record<string, unknown>;

export interface WireValue {
  S?: string;
  N?: string;
  /** Base64. */
  B?: string;
  BOOL?: boolean;
  NULL?: boolean;
  SS?: string[];
  NS?: string[];
  BS?: string[];
  L?: WireValue[];
  M?: WireItem;
}

export type WireItem = Record<string, WireValue>;

export interface Capacity {
  TableName: string;
  CapacityUnits: number;
}

/** The fields that requests on one item and the actions of a transaction have in common. */
export interface ItemRequest {
  TableName: string;
  Item?: WireItem;
  Key?: WireItem;
  ReturnConsumedCapacity?: string;
  [field: string]: unknown;
}

export interface PageRequest {
  TableName: string;
  Limit?: number;
  ExclusiveStartKey?: WireItem;
  KeyConditionExpression?: string;
  ProjectionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, WireValue>;
  ConsistentRead?: boolean;
  ReturnConsumedCapacity?: string;
  [field: string]: unknown;
}

export interface PageAnswer {
  Items?: WireItem[];
  Count: number;
  ScannedCount: number;
  LastEvaluatedKey?: WireItem;
  ConsumedCapacity?: Capacity;
}

export type WriteRequest = { PutRequest: { Item: WireItem } } | { DeleteRequest: { Key: WireItem } };

export interface BatchWriteRequest {
  RequestItems: Record<string, WriteRequest[]>;
  ReturnConsumedCapacity?: string;
}

export interface KeysAndAttributes {
  Keys: WireItem[];
  [field: string]: unknown;
}

export interface BatchGetRequest {
  RequestItems: Record<string, KeysAndAttributes>;
  ReturnConsumedCapacity?: string;
}

export interface TransactGetRequest {
  TransactItems: { Get: ItemRequest }[];
  ReturnConsumedCapacity?: string;
}

export interface TransactWriteRequest {
  TransactItems: Record<string, ItemRequest>[];
  ClientRequestToken?: string;
  ReturnConsumedCapacity?: string;
}

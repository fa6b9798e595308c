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

/** An error response in the format of DynamoDB. */
export class WireError extends Error {
  override readonly name = 'WireError';
  readonly status: number;
  readonly body: Json;

  constructor(status: number, body: Json) {
    super(String(body['message'] ?? body['Message'] ?? body['__type']));
    this.status = status;
    this.body = body;
  }

  /** The exception's name, without its namespace. */
  get type(): string {
    return String(this.body['__type']).split('#').at(-1) ?? '';
  }
}

export interface CancellationReason {
  Code: 'None' | 'TransactionConflict' | 'ThrottlingError';
  Message?: string;
}

const exception = (type: string, fields: Json) =>
  new WireError(400, { __type: `com.amazonaws.dynamodb.v20120810#${type}`, ...fields });

export const validationError = (message: string) =>
  new WireError(400, { __type: 'com.amazon.coral.validate#ValidationException', message });

export const conflictReason: CancellationReason = {
  Code: 'TransactionConflict',
  Message: 'Transaction is ongoing for the item',
};

const throughputExceeded =
  'Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index so ' +
  'please try again shortly. If exceptions persist, check if you have a hot key: ' +
  'https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html';

export const throttlingReason: CancellationReason = { Code: 'ThrottlingError', Message: throughputExceeded };

/** The error of a table with on-demand capacity when one of its partitions is too hot. */
export const throttlingError = (kind: 'read' | 'write', tableName: string) =>
  exception('ThrottlingException', {
    message: throughputExceeded,
    throttlingReasons: [
      {
        reason: kind === 'read' ? 'TableReadKeyRangeThroughputExceeded' : 'TableWriteKeyRangeThroughputExceeded',
        resource: `arn:aws:dynamodb:local:000000000000:table/${tableName}`,
      },
    ],
  });

export const conflictError = () => exception('TransactionConflictException', { message: 'Transaction is ongoing for the item' });

export const inProgressError = () =>
  exception('TransactionInProgressException', {
    Message: 'The transaction with the given request token is already in progress.',
  });

export const parameterMismatchError = () =>
  exception('IdempotentParameterMismatchException', {
    Message:
      'DynamoDB rejected the request because you retried a request with a different payload but with an idempotent token that was already used.',
  });

/** The error of a cancelled transaction. `refused` returns the reason for a position, or undefined if that action is valid. */
export function cancelledError(refused: (CancellationReason | undefined)[]): WireError {
  const reasons = refused.map((reason) => reason ?? { Code: 'None' });
  const codes = reasons.map((reason) => reason.Code).join(', ');
  return exception('TransactionCanceledException', {
    Message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    CancellationReasons: reasons,
  });
}

/** IAM actions without the service prefix. */
export interface Uses {
  table?: readonly TableAction[];
  /** Under the prefix `content/`. */
  content?: readonly ('GetObject' | 'PutObject' | 'DeleteObject')[];
  /** Without ListBucket, S3 answers 403 instead of 404 if an object does not exist. */
  bucket?: readonly 'ListBucket'[];
  stateMachine?: readonly StateMachineAction[];
  signingKey?: readonly ('Sign' | 'GetPublicKey')[];
  sealingKey?: readonly ('GenerateDataKey' | 'Decrypt')[];
  publishedKeys?: readonly 'GetPublicKey'[];
  purge?: readonly 'InvokeFunction'[];
  stream?: readonly ('DescribeStream' | 'GetRecords' | 'GetShardIterator' | 'ListStreams')[];
}

export type TableAction =
  | 'GetItem'
  | 'BatchGetItem'
  | 'BatchWriteItem'
  | 'Query'
  | 'Scan'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'ConditionCheckItem';

export type StateMachineAction =
  'StartExecution' | 'DescribeExecution' | 'SendTaskSuccess' | 'SendTaskFailure' | 'SendTaskHeartbeat';

export const reads = ['GetItem', 'BatchGetItem', 'Query'] as const;

export const appends = ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'] as const;

export const adds = ['GetItem', 'Query', 'PutItem', 'UpdateItem'] as const;

export const changes = ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'] as const;

export const foldsLists = ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem'] as const;

export const waiting = ['Query', 'PutItem', 'DeleteItem'] as const;

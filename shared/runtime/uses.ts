/** The AWS actions that a function calls, as IAM actions without the service prefix. */
export interface Uses {
  table?: readonly TableAction[];
  /** S3 object actions under the prefix `content/`. */
  content?: readonly ('GetObject' | 'PutObject' | 'DeleteObject')[];
  /** Without ListBucket, S3 answers 403 instead of 404 if an object does not exist. */
  bucket?: readonly 'ListBucket'[];
  stateMachine?: readonly StateMachineAction[];
  /** Actions of KMS on the key that signs evidence. */
  signingKey?: readonly ('Sign' | 'GetPublicKey')[];
  /** Actions of KMS on the key that seals private keys. */
  sealingKey?: readonly ('GenerateDataKey' | 'Decrypt')[];
  /** Actions of KMS on all keys that sign or signed evidence. */
  publishedKeys?: readonly 'GetPublicKey'[];
  /** The function of the task `maintenance/purge`. */
  purge?: readonly 'InvokeFunction'[];
  /** Actions of DynamoDB on the stream of the table. */
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

/** Reads, appends an event to the journal, and changes the row that the event is about. */
export const appends = ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'] as const;

/** Adds resources, or changes one, and reads the others one by one. */
export const adds = ['GetItem', 'Query', 'PutItem', 'UpdateItem'] as const;

/** Changes resources and what belongs to them. */
export const changes = ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'] as const;

/** Folds the changes of lists, and deletes what earlier folds replaced. */
export const foldsLists = ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem'] as const;

/** Takes and frees a slot for a wait (shared/waits/wait.ts). */
export const waiting = ['Query', 'PutItem', 'DeleteItem'] as const;

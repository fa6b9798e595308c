/** The resources of AWS that a function uses, each with its IAM actions without the service prefix. CDK grants these. */
export interface Uses {
  table?: readonly TableAction[];
  /** The IAM actions of a function on objects of the bucket under the prefix `content/`. */
  content?: readonly ('GetObject' | 'PutObject' | 'DeleteObject')[];
  /**
   * The IAM actions of a function on the bucket itself. Without ListBucket, S3 answers 403 instead of 404 if an object does not
   * exist.
   */
  bucket?: readonly 'ListBucket'[];
  /** The IAM actions of a function on the bucket of the stage's log and its objects. */
  log?: readonly ('GetObject' | 'PutObject' | 'ListBucket')[];
  logKey?: readonly ('Sign' | 'GetPublicKey')[];
  stateMachine?: readonly StateMachineAction[];
  signingKey?: readonly ('Sign' | 'GetPublicKey')[];
  sealingKey?: readonly ('GenerateDataKey' | 'Decrypt')[];
  /** The owner of the secrets that a function may seal and open with `sealingKey`. Default: `computation`, whose agent has a private key. */
  seals?: 'asset' | 'secret';
  publishedKeys?: readonly 'GetPublicKey'[];
  /** The IAM actions of a function on the identity of the stage's mail. Empty: the function only knows its settings. */
  mail?: readonly 'SendEmail'[];
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

/** IAM actions of a function that only reads the table. */
export const reads = ['GetItem', 'BatchGetItem', 'Query'] as const;

/** IAM actions of a function that reads the table in batches, and creates or changes items without deleting any. */
export const appends = ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'] as const;

/** IAM actions of a function that reads the table without batches, and creates or changes items without deleting any. */
export const adds = ['GetItem', 'Query', 'PutItem', 'UpdateItem'] as const;

/** IAM actions of a function that creates, changes and deletes items of the table. */
export const changes = ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'] as const;

/**
 * IAM actions of a function that sorts changes of counted lists into their index (folds lists), which also writes items in
 * batches.
 */
export const foldsLists = ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem'] as const;

/** The IAM actions of a function that reads the stage's log and verifies its checkpoint. ListBucket as in `bucket` of `Uses`. */
export const readsLog = { log: ['GetObject', 'ListBucket'], logKey: ['GetPublicKey'] } as const;

/** The IAM actions of a function that adds entries to the stage's log. */
export const writesLog = { log: ['GetObject', 'PutObject', 'ListBucket'], logKey: ['GetPublicKey', 'Sign'] } as const;

/** IAM actions of a function that holds requests until there is something to return: it takes and frees slots. */
export const waiting = ['Query', 'PutItem', 'DeleteItem'] as const;

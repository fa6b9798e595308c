/** The part of AWS that a function calls, as IAM actions without their service prefix. */
export interface Uses {
  table?: readonly TableAction[];
  /** S3 object actions under the prefix `content/`. */
  content?: readonly ('GetObject' | 'PutObject' | 'DeleteObject')[];
  /** Without it S3 answers 403 instead of 404 for an object that does not exist. */
  bucket?: readonly 'ListBucket'[];
  stateMachine?: readonly StateMachineAction[];
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

/** Reads, an event in the journal, and the row that the event is about. */
export const appends = ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem'] as const;

export const appendsAndDeletes = ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'] as const;

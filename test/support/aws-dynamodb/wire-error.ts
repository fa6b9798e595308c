import type { Json } from './wire.ts';

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

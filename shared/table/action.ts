import type { Key } from './keys.ts';

interface Condition {
  ConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, unknown>;
}

interface AtKey extends Condition {
  Key: Key;
}

/** One action of a transaction: exactly one of put, update, delete and check. */
export interface Action {
  put?: Condition & { Item: Record<string, unknown> & Key };
  update?: AtKey & { UpdateExpression: string };
  delete?: AtKey;
  check?: AtKey & { ConditionExpression: string };
  /** Thrown if the condition does not hold. Default: ConditionFailedError. */
  otherwise?: Error;
}

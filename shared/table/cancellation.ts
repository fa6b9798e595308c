import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';

const transientReasons = new Set(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']);

/** Returns why DynamoDB cancelled a transaction, one reason for each of its items; empty for any other error. */
export function cancellationReasons(error: unknown): string[] {
  if (!(error instanceof TransactionCanceledException)) return [];
  return (error.CancellationReasons ?? []).map((reason) => reason.Code ?? 'None');
}

/** Returns whether a transaction was cancelled only because of other transactions or of throttling, so that a retry may succeed. */
export function isCancelledForNow(error: unknown): boolean {
  const reasons = cancellationReasons(error).filter((reason) => reason !== 'None');
  return reasons.length > 0 && reasons.every((reason) => transientReasons.has(reason));
}

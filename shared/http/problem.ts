import { errorTable, ServiceError } from '../errors.ts';

export interface HttpResponse {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
}

const retryAfterInSeconds = '2';

/** The one place where an error becomes a response. Server errors never say more than their title. */
export function problemResponse(error: ServiceError, requestId: string): HttpResponse {
  const { status, title } = errorTable[error.code];
  const detail = error.code === 'internal' ? 'Something went wrong on our side. The request id leads to it.' : error.message;
  const body = { type: 'about:blank', title, status, detail, code: error.code, request_id: requestId, ...error.extras };
  return {
    statusCode: status,
    headers: {
      'content-type': 'application/problem+json',
      'x-request-id': requestId,
      'cache-control': 'no-store',
      ...(status === 503 ? { 'retry-after': retryAfterInSeconds } : {}),
    },
    body: JSON.stringify(body),
  };
}

const busyNames = new Set([
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'TransactionInProgressException',
  'TooManyRequestsException',
  'SlowDown',
  'ExecutionLimitExceeded',
  'ServiceUnavailable',
  'TimeoutError',
  'AbortError',
]);

const networkCodes = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN']);

/** What a caller is told of anything that was thrown: a dependency that throttles or is down is `unavailable`. */
export function toServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  if (thrown instanceof Error) {
    const { $metadata, code } = thrown as { $metadata?: { httpStatusCode?: number }; code?: unknown };
    const isBusy = busyNames.has(thrown.name) || ($metadata?.httpStatusCode ?? 0) >= 500;
    if (isBusy || (typeof code === 'string' && networkCodes.has(code))) {
      return new ServiceError('unavailable', 'A part of the service is busy or down. Try again in a moment.', {}, thrown);
    }
  }
  return new ServiceError('internal', 'Internal error', {}, thrown);
}

import { errorTable, RateLimitError, ServiceError, type ErrorExtras, truncate } from '../runtime/errors.ts';

/** The response of a function to API Gateway. */
export interface HttpResponse {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
  /** True if the body is base64 of the bytes to send. Default: it is the text to send. */
  isBase64Encoded?: boolean;
}

const retryAfterInSeconds = '2';
/** The seconds after which to ask again for evidence whose entries are not in the log yet. One machine needs less than one. */
const retryAfterOfLog = '1';

const longestDetail = 1_000;
const longestPointer = 1_000;

/**
 * Makes the response to a failed request: application/problem+json (RFC 9457). The message of an internal error is never shown to
 * the caller.
 */
export function problemResponse(error: ServiceError, requestId: string): HttpResponse {
  const { status, title } = errorTable[error.code];
  const detail = error.code === 'internal' ? 'The service failed. Give the operator the request id.' : error.message;
  const body = {
    type: 'about:blank',
    title,
    status,
    detail: truncate(detail, longestDetail),
    code: error.code,
    request_id: requestId,
    ...bounded(error.extras),
  };
  return {
    statusCode: status,
    headers: {
      'content-type': 'application/problem+json',
      'x-request-id': requestId,
      'cache-control': 'no-store',
      ...(status === 401 ? { 'www-authenticate': 'Bearer error="invalid_token"' } : {}),
      ...(status === 503 || status === 429 ? { 'retry-after': retryAfterInSeconds } : {}),
      ...(error.extras.reason === 'log_pending' ? { 'retry-after': retryAfterOfLog } : {}),
      ...(error instanceof RateLimitError ? error.headers : {}),
    },
    body: JSON.stringify(body),
  };
}

function bounded({ errors, ...rest }: ErrorExtras): ErrorExtras {
  if (!errors) return rest;
  const places = errors.map(({ pointer, detail }) => ({
    pointer: truncate(pointer, longestPointer),
    detail: truncate(detail, longestDetail),
  }));
  return { ...rest, errors: places };
}

const busyNames = new Set([
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'TransactionInProgressException',
  'TooManyRequestsException',
  'SlowDown',
  'RequestTimeout',
  'ExecutionLimitExceeded',
  'ServiceUnavailable',
  'TimeoutError',
  'AbortError',
  'DisabledException', // a KMS key was disabled, or is to be deleted: an operator can undo both
  'KMSInvalidStateException',
]);

const networkCodes = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN']);

/**
 * Converts what was thrown to a ServiceError. A dependency that throttles or is down becomes `unavailable`, any other error
 * `internal`.
 */
export function toServiceError(thrown: unknown): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  if (thrown instanceof Error) {
    const { $metadata, code } = thrown as { $metadata?: { httpStatusCode?: number }; code?: unknown };
    const status = Number($metadata?.httpStatusCode);
    const isBusy = busyNames.has(thrown.name) || status >= 500 || status === 429;
    if (isBusy || (typeof code === 'string' && networkCodes.has(code))) {
      return new ServiceError('unavailable', 'A dependency of the service is busy or down. Try again in a moment.', {}, thrown);
    }
  }
  return new ServiceError('internal', 'Internal error', {}, thrown);
}

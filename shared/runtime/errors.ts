/** The HTTP status and the RFC 9457 title of each error code of the API. */
export const errorTable = {
  invalid_request: { status: 400, title: 'Invalid request' },
  unauthenticated: { status: 401, title: 'Unauthenticated' },
  forbidden: { status: 403, title: 'Forbidden' },
  not_found: { status: 404, title: 'Not found' },
  conflict: { status: 409, title: 'Conflict' },
  precondition_failed: { status: 412, title: 'Precondition failed' },
  too_large: { status: 413, title: 'Too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  incomplete: { status: 422, title: 'Incomplete' },
  idempotency_mismatch: { status: 422, title: 'Idempotency mismatch' },
  too_many_requests: { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Internal error' },
  unavailable: { status: 503, title: 'Temporarily unavailable' },
} as const;
export type ErrorCode = keyof typeof errorTable;
export const errorCodes = Object.keys(errorTable) as ErrorCode[];

/** The reasons of a conflict (409), for clients that handle them differently. */
export const conflictReasons = [
  'run_active',
  'cvm_busy',
  'cvm_not_ready',
  'cvm_not_attested',
  'public_key_taken',
  'second_algorithm',
  'asset_in_use',
  'file_name_taken',
  'linked_too_widely',
  'nothing_to_stop',
  'stale_digest',
  'unknown_event',
  'run_not_completed',
  'no_result',
  'other_file',
  'already_decided',
  'result_decided',
  'result_open',
  'result_of_run',
  'log_pending',
  'log_contradicted',
  'no_checksum',
  'no_release_policy',
  'request_over',
  'no_verified_address',
] as const;
export type ConflictReason = (typeof conflictReasons)[number];

/** The reasons of a refusal (403) that no other role would change, for clients that handle them differently. */
export const refusalReasons = ['logs_not_shared', 'gateway_only'] as const;

/**
 * An invalid place in a request, and what was expected there. `pointer` is a JSON Pointer into the body, or a place such as
 * `query/limit` or `header/if-match`.
 */
export interface Violation {
  pointer: string;
  detail: string;
}

/** The fields that some errors of the API have beside the error code and detail. */
export interface ErrorExtras {
  errors?: Violation[];
  reason?: ConflictReason | (typeof refusalReasons)[number];
  /** The run that causes the conflict (409). */
  run_id?: string;
  /** The present digest of the manifest, for a request that names an outdated digest (409 `stale_digest`). */
  manifest_digest?: string;
  /** The present digest of the configuration, for a request that names an outdated digest (409 `stale_digest`). */
  configuration_digest?: string;
  /** The list of what is missing before a run can start (422). */
  missing_items?: { keys: string[]; hashes: string[]; info: string[] };
}

/** An error whose code and message are shown to the caller. Any other error is answered as `internal`. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ErrorCode;
  readonly extras: ErrorExtras;

  constructor(code: ErrorCode, detail: string, extras: ErrorExtras = {}, cause?: unknown) {
    super(detail, { cause });
    this.code = code;
    this.extras = extras;
  }
}

/** A refusal of a change because of the domain's limit, with the headers that tell the limit (429). */
export class RateLimitError extends ServiceError {
  readonly headers: Record<string, string>;

  constructor(detail: string, headers: Record<string, string>) {
    super('too_many_requests', detail);
    this.headers = headers;
  }
}

/**
 * An error `forbidden` that depends on the present state of a resource. The same request may have been allowed before, so its
 * repeat looks for the stored answer first.
 */
export class ForbiddenForNowError extends ServiceError {
  constructor(detail: string, extras: ErrorExtras = {}) {
    super('forbidden', detail, extras);
  }
}

/**
 * Returns the error for a resource that does not exist (404).
 * @param what the kind of resource, such as `asset`
 */
export function notFound(what: string): ServiceError {
  return new ServiceError('not_found', `No such ${what} in this domain.`);
}

/** Returns what was looked for. @param what its name in the message of the error @throws ServiceError `not_found` if it is undefined */
export function orNotFound<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw notFound(what);
  return value;
}

/**
 * Returns the error for an invalid request.
 * @param pointer a JSON Pointer into the body, '' for all of it, or a place such as `query/limit`
 * @param detail what was expected there
 */
export function invalid(pointer: string, detail: string): ServiceError {
  return invalidPlaces([{ pointer, detail }]);
}

/** Returns the error for a request with several invalid places. Its `detail` names the first one. */
export function invalidPlaces(errors: [Violation, ...Violation[]]): ServiceError {
  const [{ pointer, detail }] = errors;
  return new ServiceError('invalid_request', `${pointer || 'The body'}: ${detail}`, { errors });
}

/**
 * Returns the error for a request on an asset that is the result of a run, such as to link it.
 * @param what completes the sentence, such as `cannot be linked`
 */
export function resultConflict(what: string): ServiceError {
  return conflict('result_of_run', `The asset is the result of a run and ${what}.`);
}

/**
 * Returns the error for a request that conflicts with the state of a resource (409).
 * @param run_id the run that causes the conflict
 */
export function conflict(reason: ConflictReason, detail: string, run_id?: string): ServiceError {
  return new ServiceError('conflict', detail, run_id === undefined ? { reason } : { reason, run_id });
}

/**
 * Returns the error for an If-Match that does not name the present ETag of the resource (412). Check If-Match last: every other
 * refusal comes before it.
 */
export function preconditionFailed(): ServiceError {
  return new ServiceError(
    'precondition_failed',
    'If-Match does not contain the current ETag of the resource. Read the resource again.',
  );
}

/** Joins alternatives to a phrase of a sentence: `a, b or c`. */
export function eitherOf(alternatives: readonly string[]): string {
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(alternatives);
}

/**
 * Returns an error that says what failed, with the original error as its cause.
 * @param what what failed, such as `run d1/<run id>`
 */
export function failureOf(what: string, error: unknown): Error {
  return new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
}

/** Returns the first `most` UTF-16 code units of a text and an ellipsis, or the text itself if it is not longer. */
export function truncate(text: string, most = 100): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}

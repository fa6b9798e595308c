import { ServiceError } from '../../shared/errors.ts';

/** What can be done about a failed call: wait, wait longer for other credentials, or nothing by a mere repeat. */
export type FailureKind = 'busy' | 'credentials' | 'lasting';

const ofCredentials = new Set([
  'AccessDeniedException',
  'CredentialsProviderError',
  'ExpiredTokenException',
  'InvalidSignatureException',
  'MissingAuthenticationTokenException',
  'UnrecognizedClientException',
]);

const ofRequest = new Set(['ItemCollectionSizeLimitExceededException', 'SerializationException', 'ValidationException']);

/** Errors of the code that handles the report: a repeat fails in the same way. With a cause, such as a broken connection, it may not. */
const ofCode = new Set(['RangeError', 'TypeError']);

/**
 * Tells failures apart: refused credentials (401, 403), requests that can never be taken (400, or one that the code fails on), and all
 * others, such as throttling, errors of a server and broken connections (429, 5xx).
 */
export function failureKind(error: unknown): FailureKind {
  if (error instanceof ServiceError) return error.code === 'unavailable' ? 'busy' : 'lasting';
  if (!(error instanceof Error)) return 'busy';
  if (ofCredentials.has(error.name)) return 'credentials';
  const isOfCode = ofCode.has(error.name) && error.cause === undefined;
  return ofRequest.has(error.name) || isOfCode ? 'lasting' : 'busy';
}

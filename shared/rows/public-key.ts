import { toBase64 } from 'computation-management-formats/bytes';
import { InvalidKeyError, parsePublicKey } from 'computation-management-formats/public-key';
import { invalid } from '../runtime/errors.ts';

/**
 * Parses a public key that a user sent.
 * @throws ServiceError `invalid_request` at `pointer` that says what was expected
 */
export function readPublicKey(encoded: string, pointer: string): ReturnType<typeof parsePublicKey> {
  return refusedAt(pointer, () => parsePublicKey(encoded));
}

/**
 * Calls `read` on a key or certificate in a request, and answers an invalid one with its place in the request.
 * @throws ServiceError `invalid_request` at `pointer` in place of InvalidKeyError; other errors of `read`
 */
export function refusedAt<T>(pointer: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidKeyError) throw invalid(pointer, error.message);
    throw error;
  }
}

/**
 * Parses a public key that a user may omit.
 * @returns base64 of a DER SubjectPublicKeyInfo, '' for ''
 * @throws ServiceError `invalid_request` at `pointer` that says what was expected
 */
export function readOptionalKey(encoded: string, pointer: string): string {
  return encoded === '' ? '' : toBase64(readPublicKey(encoded, pointer).spki);
}

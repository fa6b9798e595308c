import { toBase64 } from 'computation-management-formats/bytes';
import { InvalidKeyError, parsePublicKey } from 'computation-management-formats/public-key';
import { invalid } from '../runtime/errors.ts';

/** @throws ServiceError `invalid_request` at `pointer` that says what was expected */
export function readPublicKey(encoded: string, pointer: string): ReturnType<typeof parsePublicKey> {
  return refusedAt(pointer, () => parsePublicKey(encoded));
}

/** @throws ServiceError `invalid_request` at `pointer` for InvalidKeyError */
export function refusedAt<T>(pointer: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidKeyError) throw invalid(pointer, error.message);
    throw error;
  }
}

/** @returns base64 of a DER SubjectPublicKeyInfo, '' for '' */
export function readOptionalKey(encoded: string, pointer: string): string {
  return encoded === '' ? '' : toBase64(readPublicKey(encoded, pointer).spki);
}

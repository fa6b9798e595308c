import { invalid } from '../errors.ts';
import { InvalidKeyError } from './invalid-key-error.ts';
import { parsePublicKey } from './public-key.ts';

/** A public key that a caller sent. @throws ServiceError `invalid_request` at `pointer`, saying what was expected */
export function readPublicKey(encoded: string, pointer: string): ReturnType<typeof parsePublicKey> {
  try {
    return parsePublicKey(encoded);
  } catch (error) {
    if (error instanceof InvalidKeyError) throw invalid(pointer, error.message);
    throw error;
  }
}

/** The same, as base64 DER SubjectPublicKeyInfo; empty, for none, stays empty. */
export function readOptionalKey(encoded: string, pointer: string): string {
  return encoded === '' ? '' : readPublicKey(encoded, pointer).spki.toString('base64');
}

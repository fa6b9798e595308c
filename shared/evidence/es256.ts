import { verify, type KeyObject } from 'node:crypto';

const integerTag = 0x02;
const sequenceTag = 0x30;
const bytesOfInteger = 32;

/**
 * Converts a signature from DER (RFC 3279, section 2.2.3), as KMS returns it, to r and s of 32 bytes each (RFC 7518, section 3.4).
 * @throws Error if it is not the DER form of two integers of up to 32 bytes
 */
export function joinedSignature(der: Uint8Array): Buffer {
  const bytes = Buffer.from(der);
  const [tag, length] = bytes;
  if (tag !== sequenceTag || length !== bytes.length - 2) throw notDer();
  const r = integerAt(bytes, 2);
  const s = integerAt(bytes, r.end);
  if (s.end !== bytes.length) throw notDer();
  return Buffer.concat([r.value, s.value]);
}

/** A signature of two such integers has at most 72 bytes, so every length is one byte. */
function integerAt(bytes: Buffer, start: number): { value: Buffer; end: number } {
  const [tag, length = 0] = bytes.subarray(start);
  const end = start + 2 + length;
  if (tag !== integerTag || length === 0 || end > bytes.length) throw notDer();
  const digits = bytes.subarray(start + 2, end);
  const value = digits[0] === 0 ? digits.subarray(1) : digits;
  if (value.length > bytesOfInteger) throw notDer();
  return { value: Buffer.concat([Buffer.alloc(bytesOfInteger - value.length), value]), end };
}

function notDer(): Error {
  return new Error('The signature is not the DER form of two integers of up to 32 bytes.');
}

/** @param signature base64url. Other spellings of the same bytes do not verify. */
export function verifiesEs256(text: string, signature: string, key: KeyObject): boolean {
  const bytes = Buffer.from(signature, 'base64url');
  if (bytes.length !== 2 * bytesOfInteger || bytes.toString('base64url') !== signature) return false;
  return verify('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }, bytes);
}

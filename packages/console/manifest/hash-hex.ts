/** Returns a hash of a manifest, an array of bytes, in hexadecimal. */
export function hashHex(bytes: readonly number[]): string {
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

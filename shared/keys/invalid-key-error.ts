/** Thrown if a text is not a supported public key. The message is for users: it says what was expected, never what was sent. */
export class InvalidKeyError extends Error {
  override readonly name = 'InvalidKeyError';
}

/** Text that is not a public key this service takes. The message is for users: what was expected, nothing of what was sent. */
export class InvalidKeyError extends Error {
  override readonly name = 'InvalidKeyError';
}

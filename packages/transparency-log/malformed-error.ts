/** The error for a text or bytes of a log that do not have the form of the specification. The message says what was expected. */
export class MalformedError extends Error {
  override readonly name = 'MalformedError';
}

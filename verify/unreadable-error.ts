/** A file that cannot be checked at all. The message names it and what is wrong. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
}

/** A command prints its usage and exits with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

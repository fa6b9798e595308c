/** Returns why something failed. `fetch failed` says nothing: its cause says it. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause : error;
  if (lacksTls(cause)) return 'the server does not use https';
  if (cause.message !== '') return cause.message;
  // A host with several addresses fails with an error for each, and without a message.
  const [first] = cause instanceof AggregateError ? (cause.errors as unknown[]) : [];
  return first === undefined ? String(cause) : causeOf(first);
}

/** Whether a server answered without TLS. OpenSSL speaks of a wrong version. In browsers, nothing says so. */
export function lacksTls(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === 'ERR_SSL_WRONG_VERSION_NUMBER') || lacksTls(error.cause);
}

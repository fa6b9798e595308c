/** Returns why something failed. `fetch failed` says nothing: its cause says it. */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message || String(error.cause) : error.message || String(error);
}

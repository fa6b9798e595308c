import type { WireTimestamp } from '../wire/messages.ts';

/** Converts the time of an agent to RFC 3339, UTC, milliseconds. Undefined if it is missing or no date. */
export function timeOf(timestamp: WireTimestamp | null): string | undefined {
  if (!timestamp) return undefined;
  const date = new Date(Number(timestamp.seconds) * 1000 + Math.floor(timestamp.nanos / 1e6));
  const year = date.getUTCFullYear();
  return year >= 1970 && year <= 9999 ? date.toISOString() : undefined;
}

/** How far the service's clock is ahead of the browser's, in milliseconds. */
let ahead = 0;

/** `Date` has whole seconds, and an answer takes its time. A smaller difference says nothing. */
const leastInMilliseconds = 5_000;

/** Learns the service's clock from an answer that has just come. Without a `Date`, as from an older stage, the browser's clock counts. */
export function learnServiceTime({ headers }: Pick<Response, 'headers'>): void {
  const found = Date.parse(headers.get('date') ?? '') - Date.now();
  if (Math.abs(found - ahead) >= leastInMilliseconds) ahead = found;
}

/** The time of the service, in milliseconds since 1970. Its timestamps are compared with this, not with the browser's clock. */
export function serviceNow(): number {
  return Date.now() + ahead;
}

import { useEffect, useState } from 'react';

/** The time by which the clock of the service is ahead of the browser's clock, in milliseconds. */
let ahead = 0;

/** The least difference between the clocks of the service and the browser that counts: the header `Date` has whole seconds. */
const leastInMilliseconds = 5_000;

/**
 * Learns the difference of the service's clock from the browser's by the header `Date` of an answer of the service.
 * @param sentAt the earliest time at which the answer was made, by the clock of the browser in milliseconds since 1970
 */
export function learnServiceTime({ headers }: Pick<Response, 'headers'>, sentAt = Date.now()): void {
  const date = Date.parse(headers.get('date') ?? '');
  const found = date - Date.now();
  if (ahead <= found - leastInMilliseconds || ahead >= date - sentAt + leastInMilliseconds) ahead = found;
}

/** Returns the present time by the service's clock, in milliseconds since 1970. Timestamps of the service are compared with this time. */
export function serviceNow(): number {
  return Date.now() + ahead;
}

/**
 * Returns the present time by the service's clock, in milliseconds since 1970. The component is rendered again every so many seconds.
 * @param everySeconds null: the time of the first rendering stays
 */
export function useNow(everySeconds: number | null = 10): number {
  const [now, setNow] = useState(serviceNow);
  useEffect(() => {
    if (everySeconds === null) return undefined;
    const timer = setInterval(() => setNow(serviceNow()), everySeconds * 1_000);
    return () => clearInterval(timer);
  }, [everySeconds]);
  return now;
}

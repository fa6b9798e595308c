import { useSyncExternalStore } from 'react';

/** How far the service's clock is ahead of the browser's, in milliseconds. */
let ahead = 0;

/** `Date` has whole seconds. A smaller difference says nothing. */
const leastInMilliseconds = 5_000;

/** Learns the service's clock from an answer that has just come, which was made at any time since. Without a `Date`, the browser's clock counts. */
export function learnServiceTime({ headers }: Pick<Response, 'headers'>, sentAt = Date.now()): void {
  const date = Date.parse(headers.get('date') ?? '');
  const found = date - Date.now();
  if (ahead <= found - leastInMilliseconds || ahead >= date - sentAt + leastInMilliseconds) ahead = found;
}

/** The time of the service, in milliseconds since 1970. Its timestamps are compared with this, not with the browser's clock. */
export function serviceNow(): number {
  return Date.now() + ahead;
}

const tickInMilliseconds = 10_000;
const listeners = new Set<() => void>();
let now = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** The time of the service, in milliseconds since 1970. It goes on every 10 seconds. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => (now === 0 ? tick() : now));
}

function tick(): number {
  now = serviceNow();
  return now;
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) {
    tick();
    timer = setInterval(() => {
      tick();
      for (const each of listeners) each();
    }, tickInMilliseconds);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) clearInterval(timer);
  };
}

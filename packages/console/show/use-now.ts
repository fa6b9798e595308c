import { useSyncExternalStore } from 'react';
import { serviceNow } from './service-clock.ts';

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

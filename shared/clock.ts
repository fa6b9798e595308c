import { setTimeout as wait } from 'node:timers/promises';

/** Time in milliseconds. Passed as a parameter so that tests can control it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now: () => number;
  wait: (milliseconds: number) => Promise<void>;
  /** Milliseconds since any moment. Never goes back. Default: `now`. */
  steady?: () => number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  wait: (milliseconds) => wait(milliseconds),
  steady: () => performance.now(),
};

/** Returns the current time in the service's format: RFC 3339, UTC, milliseconds. */
export function timestampOf(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}

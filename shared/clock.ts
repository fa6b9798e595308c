import { setTimeout as wait } from 'node:timers/promises';

/** Time in milliseconds. It is passed in, so that tests can move it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now: () => number;
  wait: (milliseconds: number) => Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  wait: (milliseconds) => wait(milliseconds),
};

/** The clock's time as the service writes it: RFC 3339, UTC, milliseconds. */
export function timestampOf(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}

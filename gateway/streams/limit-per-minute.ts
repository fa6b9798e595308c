import type { Clock } from '../../shared/clock.ts';
import { log } from '../../shared/logger.ts';
import { type CvmIdentity, nameOf } from '../identity/cvm-identity.ts';

interface Limit {
  most: number;
  /** Logged for the first one above the limit in a minute. */
  message: string;
  reason: string;
}

/** Counts what each CVM does. @returns a function that counts it once more, and returns whether it is too often in this minute */
export function limitPerMinute(clock: Clock, { most, message, reason }: Limit): (cvm: CvmIdentity) => boolean {
  let minute = 0;
  let counts = new Map<string, number>();
  return (cvm) => {
    const now = Math.floor(clock.now() / 60_000);
    if (now !== minute) counts = new Map();
    minute = now;
    const name = nameOf(cvm);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    if (count === most + 1) log('WARN', message, { reason, cvm: name });
    return count > most;
  };
}

import type { Clock } from '../../shared/clock.ts';
import { log } from '../../shared/logger.ts';
import { type CvmIdentity, logFieldsOf, nameOf } from '../identity/cvm-identity.ts';

interface Limit {
  most: number;
  /** Logged for the first one above the limit in a minute. */
  message: string;
  reason: string;
}

/**
 * Counts what each CVM does.
 * @returns a function that counts once more, and returns whether the limit of this minute is exceeded. If a certificate is given, the
 * counts of each certificate are separate
 */
export function limitPerMinute(
  clock: Clock,
  { most, message, reason }: Limit,
): (cvm: CvmIdentity, certificate?: string) => boolean {
  let minute = 0;
  let counts = new Map<string, number>();
  return (cvm, certificate = '') => {
    const now = Math.floor(clock.now() / 60_000);
    if (now !== minute) counts = new Map();
    minute = now;
    const key = `${nameOf(cvm)} ${certificate}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count === most + 1) log('WARN', message, { reason, ...logFieldsOf(cvm) });
    return count > most;
  };
}

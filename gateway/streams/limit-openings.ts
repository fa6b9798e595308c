import type { Clock } from '../../shared/clock.ts';
import { log } from '../../shared/logger.ts';
import { type CvmIdentity, nameOf } from '../identity/cvm-identity.ts';

/** An agent and a log-forwarder that are refused come back every 5 seconds each, which are 24 streams a minute. */
const mostPerMinute = 120;

export const tooMany = 'The CVM opens too many streams.';

/**
 * Counts the streams that each CVM opens. Those above the limit cost no call of the table, and one line of the log in a minute.
 * @returns a function that counts a stream, and returns whether it is one too many
 */
export function limitOpenings(clock: Clock): (cvm: CvmIdentity) => boolean {
  let minute = 0;
  let openings = new Map<string, number>();
  return (cvm) => {
    const now = Math.floor(clock.now() / 60_000);
    if (now !== minute) openings = new Map();
    minute = now;
    const name = nameOf(cvm);
    const count = (openings.get(name) ?? 0) + 1;
    openings.set(name, count);
    if (count === mostPerMinute + 1) log('WARN', 'A stream was refused.', { reason: tooMany, cvm: name });
    return count > mostPerMinute;
  };
}

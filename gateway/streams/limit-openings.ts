import type { Clock } from '../../shared/clock.ts';
import type { CvmIdentity } from '../identity/cvm-identity.ts';
import { limitPerMinute } from './limit-per-minute.ts';

/** An agent and a log-forwarder that are refused come back every 5 seconds each, which are 24 streams a minute. */
const most = 120;

export const tooMany = 'The CVM opens too many streams.';

/**
 * Counts the streams that each CVM opens, for each of its certificates: a stolen one takes nothing from the one that replaced it.
 * Those above the limit cost no call of the table, and one line of the log in a minute.
 * @returns a function that counts a stream, and returns whether it is one too many
 */
export function limitOpenings(clock: Clock): (cvm: CvmIdentity, certificate?: string) => boolean {
  return limitPerMinute(clock, { most, message: 'A stream was refused.', reason: tooMany });
}

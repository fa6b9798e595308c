import { log } from '../../shared/runtime/log.ts';
import { type CvmIdentity, logFieldsOf, nameOf } from './identity.ts';
import { type ClientMessage, sizeOf } from './messages.ts';
import type { Clock } from '../../shared/runtime/deadline.ts';

/** Counts what a CVM does, with its certificate if that counts, and returns whether it was too much. */
export type IsTooOften = (cvm: CvmIdentity, certificate?: string) => boolean;

interface Limit {
  most: number;
  message: string;
  reason: string;
}

/**
 * Limits how often a CVM may do something in a minute.
 * @returns a function that counts once more, and returns whether the limit of the minute is exceeded
 */
export function limitPerMinute(clock: Clock, { most, message, reason }: Limit): IsTooOften {
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
    return count > most; // defence
  };
}

/**
 * The largest number of streams that a CVM opens in a minute with one certificate. An agent and a log-forwarder that are refused
 * come back every 5 seconds: 24 streams a minute.
 */
const mostOpeningsPerMinute = 120;

export const tooMany = 'The CVM opens too many streams.';

/**
 * Limits how many streams a CVM opens in a minute, for each certificate: the user of a stolen certificate takes nothing from the
 * CVM with its new one. Streams above the limit cost no call of the table.
 * @returns a function that counts a stream, and returns whether the limit is exceeded
 */
export const limitOpenings = (clock: Clock): IsTooOften =>
  limitPerMinute(clock, { most: mostOpeningsPerMinute, message: 'A stream was refused.', reason: tooMany });

/**
 * The largest number of messages in a second that a gateway takes of a stream. An agent with a chatty algorithm sends hundreds a
 * second.
 */
const mostMessagesPerSecond = 2_000;
const mostBytesPerSecond = 4 * 1024 * 1024;

interface Pausable {
  pause: () => unknown;
  resume: () => unknown;
}

/**
 * Pauses a stream for the rest of a second in which it has sent too many messages or bytes.
 * @returns a function to call with each message of the stream
 */
export function limitRate(stream: Pausable): (message: ClientMessage) => void {
  let second = 0;
  let messages = 0;
  let bytes = 0;
  return (message) => {
    const now = performance.now();
    if (now - second >= 1_000) {
      second = now;
      messages = 0;
      bytes = 0;
    }
    messages++;
    bytes += sizeOf(message);
    if (messages < mostMessagesPerSecond && bytes < mostBytesPerSecond) return;
    stream.pause();
    setTimeout(() => stream.resume(), 1_000 - (now - second));
  };
}

import type { ClientMessage } from '../wire/messages.ts';
import { sizeOf } from '../wire/size-of.ts';

/** An agent with a chatty algorithm sends hundreds of messages a second. */
const mostMessagesPerSecond = 2_000;
const mostBytesPerSecond = 4 * 1024 * 1024;

interface Pausable {
  pause: () => unknown;
  resume: () => unknown;
}

/**
 * Reads a stream only so fast. A stream that sends more is not read for the rest of the second, so its sender has to wait, and no
 * other stream does.
 * @returns a function to call with each message
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

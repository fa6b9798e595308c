import { systemClock, type Clock } from './clock.ts';
import { ServiceError } from './errors.ts';

/** How long one request, or one operation of a task, keeps trying before it is answered `unavailable`. */
export const longestInMilliseconds = 5_000;

const firstPauseInMilliseconds = 15;
const longestPauseInMilliseconds = 1_000;

/** The moment by which retries give up. Every retry of a request shares one. */
export class Deadline {
  private readonly clock: Clock;
  private readonly endsAt: number;

  constructor(milliseconds: number = longestInMilliseconds, clock: Clock = systemClock) {
    this.clock = clock;
    this.endsAt = clock.now() + milliseconds;
  }

  /** Milliseconds left, never below 0. */
  get remaining(): number {
    return Math.max(0, this.endsAt - this.clock.now());
  }

  /**
   * Waits before attempt 1, 2, ...: a random time up to a bound that doubles with each attempt (full jitter).
   * @throws ServiceError `unavailable` if no time is left for another attempt
   */
  async pause(attempt: number): Promise<void> {
    const bound = Math.min(longestPauseInMilliseconds, firstPauseInMilliseconds * 2 ** attempt);
    const pause = Math.random() * bound;
    if (pause >= this.remaining) throw new ServiceError('unavailable', 'Too many changes at once. Try again in a moment.');
    await this.clock.wait(pause);
  }

  /** Aborts a call that is still open at the deadline. */
  signal(): AbortSignal {
    return AbortSignal.timeout(Math.ceil(this.remaining));
  }
}

/** Gives an operation its deadline: the request's own one, or a fresh one for each operation of a task. */
export type DeadlineSource = () => Deadline;

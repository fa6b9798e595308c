import type { Clock } from '../runtime/clock.ts';
import { environment } from '../runtime/environment.ts';
import { clockOf, longestWaitOf, type Invocation } from '../runtime/deadline.ts';
import type { Table } from '../table/table.ts';
import { takeWaitSlot } from './wait-slot.ts';

/** How long a request may be held, and what counts against the caps of waits. */
export interface Wait {
  clock: Clock;
  /** When it ends, in milliseconds since the Unix epoch. */
  endsAt: number;
  /** Aborted when the service is about to stop, which ends the wait. */
  draining?: AbortSignal | undefined;
  /** The name of the endpoint that waits. Each has slots of its own. */
  endpoint: string;
  domain: string;
  /** The waits at the same time of the endpoint in the stage, and of these in one domain. */
  perStage: number;
  perDomain: number;
}

export interface WaitingRequest {
  endpoint: string;
  domain: string;
  /** The time that the client gives. */
  seconds: number;
  invocation: Invocation;
}

/** Returns the wait of a request: as long as the client gives, or less if the function's time limit is closer. */
export function waitOf({ endpoint, domain, seconds, invocation }: WaitingRequest): Wait {
  const clock = clockOf(invocation);
  const { WAITS_PER_STAGE: perStage, WAITS_PER_DOMAIN: perDomain } = environment();
  return {
    clock,
    endsAt: clock.now() + Math.min(seconds * 1_000, longestWaitOf(invocation)),
    draining: invocation.draining,
    endpoint,
    domain,
    perStage,
    perDomain,
  };
}

const secondInMilliseconds = 1_000;

/**
 * Looks at once, and then once a second, until what it sees is enough. Ends sooner when the client's time is up, before the
 * function's time limit, when the service is about to stop, and at once if the caps of waits are reached. Every endpoint with
 * `wait` uses it.
 * @param look reads what the request asks for; gets what it returned before. It should cost one read unit
 * @returns what was seen last
 */
export async function waitFor<Seen>(
  table: Table,
  wait: Wait,
  look: (before?: Seen) => Promise<Seen>,
  isEnough: (seen: Seen) => boolean,
): Promise<Seen> {
  const seen = await look();
  if (isEnough(seen) || isOver(wait)) return seen;
  const free = await takeWaitSlot(table, wait);
  if (!free) return seen;
  try {
    return await keepLooking(wait, seen, look, isEnough);
  } finally {
    await free();
  }
}

async function keepLooking<Seen>(
  wait: Wait,
  first: Seen,
  look: (before?: Seen) => Promise<Seen>,
  isEnough: (seen: Seen) => boolean,
): Promise<Seen> {
  let seen = first;
  while (!isOver(wait)) {
    await pause(wait);
    if (wait.draining?.aborted) break;
    seen = await look(seen);
    if (isEnough(seen)) break;
  }
  return seen;
}

/** Whether the wait has ended, or was none: a client that gives 0 seconds does not wait. */
export function isOver({ clock, endsAt, draining }: Wait): boolean {
  return clock.now() >= endsAt || draining?.aborted === true;
}

/** Waits a second, or until the wait ends. */
async function pause({ clock, endsAt, draining }: Wait): Promise<void> {
  const drained = Promise.withResolvers<undefined>();
  const wake = () => drained.resolve(undefined);
  draining?.addEventListener('abort', wake, { once: true });
  try {
    await Promise.race([clock.wait(Math.min(secondInMilliseconds, endsAt - clock.now())), drained.promise]);
  } finally {
    draining?.removeEventListener('abort', wake);
  }
}

import type { Clock } from '../clock.ts';
import { environment } from '../environment.ts';
import { clockOf, longestWaitOf, type Invocation } from '../invocation.ts';

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

import { growingPause, type Clock } from '../../shared/runtime/deadline.ts';
import type { RunLogs } from './run-logs.ts';
import type { GatewayService } from './service.ts';

export const defaultTimings = {
  /** Milliseconds between two reads of the pending commands of all CVMs. */
  commands: 500,
  /** Milliseconds between two questions for the state of an agent with a run, and of one without. */
  stateOfBusy: 15_000,
  stateOfIdle: 25_000,
  /** Milliseconds in which an agent has to answer. */
  answer: 5_000,
  /** A new process to attest itself before it gets a run, and a spent one before it is refused a run. */
  attestation: 5_000,
  spent: 15_000,
  /** Milliseconds before another attempt to obey a command. */
  command: 1_000,
  /** Milliseconds before another stop of the same run. */
  stop: 15_000,
  /**
   * Milliseconds that an event may arrive after the state that it announces. An agent that fails to send a line of its log sends nothing
   * else for 11 seconds.
   */
  lateEvent: 13_000,
  lateEventWithoutForwarder: 3_000,
  /** Milliseconds between two reads of an agent's record for messages that may be of another run. */
  record: 1_000,
  presence: 45_000,
  lease: 10_000,
  /** Milliseconds between two reads of the messages of other gateways. */
  messages: 500,
  /** Agents send no PING, and load balancers close connections without traffic. */
  ping: 30_000,
  /** Milliseconds without an answer to a PING, after which the connection ends. */
  pingAnswer: 20_000,
  /**
   * Milliseconds without a stream, after which the gateway ends the connection. It cuts it up to as much later. An agent whose stream was
   * refused leaves its connection open, and opens another. One that connects gives up after 20 seconds.
   */
  connectionWithoutStream: 30_000,
  firstRetry: 250,
  longestRetry: 15_000,
  drain: 10_000,
  drainOfOptional: 1_000,
};
export type GatewayTimings = typeof defaultTimings;

export function noCounts() {
  return {
    /** Streams that were refused because of their certificate, registration, job-id or number. */
    streamsRefused: 0,
    /** The first agent answers. Not among streamsRefused. */
    identityConflicts: 0,
    /** Left out because a limit was reached. */
    reportsDropped: 0,
    logLinesDropped: 0,
    /** Events that were refused because they belong to no run, or no report can contain them. */
    eventsRefused: 0,
    eventsInferred: 0,
  };
}
export type GatewayCounts = ReturnType<typeof noCounts>;

export interface GatewayParts {
  /** The identifier of this gateway process. */
  id: string;
  service: GatewayService;
  logs: RunLogs;
  counts: GatewayCounts;
  timings: GatewayTimings;
  clock: Clock;
  wallClock: Clock;
}

export type RetryTimings = Pick<GatewayTimings, 'firstRetry' | 'longestRetry'>;

/**
 * Returns the pause in milliseconds before the next attempt, with a random part.
 * @param failures the number of failures in a row, from 1
 */
export function retryPause(failures: number, { firstRetry, longestRetry }: RetryTimings): number {
  return growingPause(failures, { first: firstRetry, longest: longestRetry }) * (0.5 + Math.random() / 2);
}

export function isLongestPause(failures: number, { firstRetry, longestRetry }: RetryTimings): boolean {
  return growingPause(failures, { first: firstRetry, longest: longestRetry }) === longestRetry;
}

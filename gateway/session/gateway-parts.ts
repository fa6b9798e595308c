import { growingPause, type Clock } from '../../shared/runtime/deadline.ts';
import type { RunLogs } from './run-logs.ts';
import type { GatewayService } from './service.ts';

/** The times by which a gateway works, all in milliseconds. */
export const defaultTimings = {
  /** The time between two reads of the commands for all CVMs. */
  commands: 500,
  /** The time between two questions to an agent that has a run, and to one that has none (`stateOfIdle`). */
  stateOfBusy: 15_000,
  stateOfIdle: 25_000,
  /** The time for an answer of the agent. */
  answer: 5_000,
  /**
   * The time for a new process to attest itself before it gets a run. `spent`: the time for an agent that looks spent to show
   * that it is a new process, before it is refused a run.
   */
  attestation: 5_000,
  spent: 15_000,
  /** The time before another attempt to obey a command. */
  command: 1_000,
  /** The time before another stop of the same run. */
  stop: 15_000,
  /**
   * The time that an event may arrive after the state that it announces. An agent that fails to send a line of its log sends
   * nothing else for 11 seconds.
   */
  lateEvent: 13_000,
  lateEventWithoutForwarder: 3_000,
  /** The time before the record of a process is read again for messages that may be of another run. */
  record: 1_000,
  presence: 45_000,
  lease: 10_000,
  /** The time between two reads of the messages of other gateways. */
  messages: 500,
  /** The time between two PINGs to an agent. Agents send no PING, and load balancers close connections without traffic. */
  ping: 30_000,
  /** The time without an answer to a PING after which the connection ends. */
  pingAnswer: 20_000,
  /**
   * The time without a stream after which the gateway ends a connection, and cuts it up to as much later. An agent whose stream
   * was refused leaves its connection open, and opens another. One that connects gives up after 20 seconds.
   */
  connectionWithoutStream: 30_000,
  firstRetry: 250,
  longestRetry: 15_000,
  drain: 10_000,
  drainOfOptional: 1_000,
};
export type GatewayTimings = typeof defaultTimings;

/** Returns the counts of a gateway that has just started. */
export function noCounts() {
  return {
    /** Streams that were refused because of certificate, registration, job-id or number. */
    streamsRefused: 0,
    /**
     * Streams that were refused because another agent is connected as the CVM, and answers. They do not count in streamsRefused.
     */
    identityConflicts: 0,
    /** Reports that were left out because a limit was reached. */
    reportsDropped: 0,
    logLinesDropped: 0,
    /** Events that belong to no run, or that no report can contain. */
    eventsRefused: 0,
    eventsInferred: 0,
  };
}
export type GatewayCounts = ReturnType<typeof noCounts>;

/** The parts of a gateway that its sessions share. */
export interface GatewayParts {
  /** The identifier of this process of the gateway. */
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
 * Returns the pause in milliseconds, partly random, before the next attempt.
 * @param failures the number of failures in a row, from 1
 */
export function retryPause(failures: number, { firstRetry, longestRetry }: RetryTimings): number {
  return growingPause(failures, { first: firstRetry, longest: longestRetry }) * (0.5 + Math.random() / 2);
}

export function isLongestPause(failures: number, { firstRetry, longestRetry }: RetryTimings): boolean {
  return growingPause(failures, { first: firstRetry, longest: longestRetry }) === longestRetry;
}

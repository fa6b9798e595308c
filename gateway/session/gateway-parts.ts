import type { Clock } from '../../shared/runtime/clock.ts';
import { growingPause } from '../../shared/runtime/deadline.ts';
import type { RunLogs } from './run-logs.ts';
import type { GatewayService } from './service.ts';

/** The intervals and time limits of a gateway, in milliseconds. */
export const defaultTimings = {
  /** How often to poll for the commands of all CVMs. */
  commands: 500,
  /** How often to ask an agent for its state: with a run, and without. */
  stateOfBusy: 15_000,
  stateOfIdle: 25_000,
  /** The time that an agent has to answer a question, or to take a run. */
  answer: 5_000,
  /** How long a new process has to send its attestation before it gets a run, and a spent one before it is refused a run. */
  attestation: 5_000,
  spent: 15_000,
  /** How long to wait before another attempt to obey the same command. */
  command: 1_000,
  /** How long to wait before another stop of the same run. */
  stop: 15_000,
  /**
   * How long an event may arrive after the state that it announces, with and without a log-forwarder. An agent that fails to send a line
   * of its log sends nothing else for 11 seconds.
   */
  lateEvent: 13_000,
  lateEventWithoutForwarder: 3_000,
  /** How often to read which run an agent process was given, for messages that may be of another run. */
  record: 1_000,
  /** How often to check that a CVM is still registered with its certificate, and held by this gateway. */
  presence: 45_000,
  /** How often to renew the gateway's lease. Without a renewal, its CVMs count as disconnected after 60 seconds. */
  lease: 10_000,
  /** How often to poll for messages of other gateways. */
  messages: 500,
  /** How often to send a PING on a connection. Agents send none, and load balancers close connections without any traffic. */
  ping: 30_000,
  /** How long the other side may take to answer a PING before the gateway ends the connection. */
  pingAnswer: 20_000,
  /**
   * How long a connection may have no stream. Then the gateway ends it, and cuts it up to as much later. An agent whose stream was
   * refused leaves its connection open, and opens another one. One that connects gives up after 20 seconds.
   */
  connectionWithoutStream: 30_000,
  /** The first and the longest pause between attempts to report. */
  firstRetry: 250,
  longestRetry: 15_000,
  /** How long a stop waits until the reports are taken, and how long for those that may be left out. */
  drain: 10_000,
  drainOfOptional: 1_000,
};
export type GatewayTimings = typeof defaultTimings;

/** What a gateway has counted since its start. */
export function noCounts() {
  return {
    /** Streams that were refused or ended, because of their certificate, registration or job-id, or because there are too many of them. */
    streamsRefused: 0,
    /** Second agents of a CVM that were refused, because its first one still answers. They are not among the refused streams. */
    identityConflicts: 0,
    /** Reports and lines of logs that were left out because a limit was reached. */
    reportsDropped: 0,
    logLinesDropped: 0,
    /** Events that belong to no run of their CVM, or that no report can contain. */
    eventsRefused: 0,
    /** Events that were inferred from the state of an agent. */
    eventsInferred: 0,
  };
}
export type GatewayCounts = ReturnType<typeof noCounts>;

/** What the sessions of all CVMs share. */
export interface GatewayParts {
  /** Identifies the process of this gateway. */
  id: string;
  service: GatewayService;
  logs: RunLogs;
  counts: GatewayCounts;
  timings: GatewayTimings;
  /** Measures durations. It is never set. */
  clock: Clock;
  /** Tells the time of day. */
  wallClock: Clock;
}

export type RetryTimings = Pick<GatewayTimings, 'firstRetry' | 'longestRetry'>;

/**
 * Returns how long to wait before another attempt, in milliseconds: twice as long after each failure, and up to half of that less.
 * @param failures those in a row, from 1
 */
export function retryPause(failures: number, { firstRetry, longestRetry }: RetryTimings): number {
  return growingPause(failures, { first: firstRetry, longest: longestRetry }) * (0.5 + Math.random() / 2);
}

/** Whether the pause after so many failures grows no more. */
export function isLongestPause(failures: number, { firstRetry, longestRetry }: RetryTimings): boolean {
  return growingPause(failures, { first: firstRetry, longest: longestRetry }) === longestRetry;
}

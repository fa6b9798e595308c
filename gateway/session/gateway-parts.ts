import { growingPause, type Clock } from '../../shared/runtime/deadline.ts';
import { log } from '../../shared/runtime/log.ts';
import type { RunLogs } from './run-logs.ts';
import type { GatewayService } from './service.ts';

/** The times by which a gateway works, all in milliseconds. */
export const defaultTimings = {
  /** The time in milliseconds between two reads of the commands that wait for any CVM. */
  commands: 500,
  /**
   * The time in milliseconds between two questions for the state of an agent that has a run. `stateOfIdle`: the time if the agent
   * has none.
   */
  stateOfBusy: 15_000,
  stateOfIdle: 25_000,
  /** The time in milliseconds in which an agent must answer a question or a run request. */
  answer: 5_000,
  /**
   * The time in milliseconds that a new agent process has to attest itself before it gets a run. `spent`: the time that an agent
   * which looks spent has to show that it is a new process, before it is refused a run.
   */
  attestation: 5_000,
  spent: 15_000,
  /** The time in milliseconds before the gateway tries again to carry out a command for a CVM. */
  command: 1_000,
  /** The time in milliseconds before the gateway tells an agent again to stop the same run. */
  stop: 15_000,
  /**
   * The time in milliseconds that an event of an agent may arrive after the state that it announces. An agent that fails to send
   * a line of its log sends nothing else for 11 seconds. `lateEventWithoutForwarder`: the time if the
   * CVM has no log-forwarder.
   */
  lateEvent: 13_000,
  lateEventWithoutForwarder: 3_000,
  /**
   * The longest time in milliseconds in which an agent fetches the algorithm, and then the datasets, if it fetches all of them itself: a
   * store may hang in mid-download, and the agent waits for it without end.
   */
  fetch: 3_600_000,
  /** The time in milliseconds between two reads of the record of an agent process for messages that may belong to another run. */
  record: 1_000,
  presence: 45_000,
  lease: 10_000,
  /** The time in milliseconds between two reads of the messages that other gateways sent to this gateway. */
  messages: 500,
  /**
   * The time in milliseconds between two PINGs of HTTP/2 to an agent. Agents send no PING, and load balancers close connections
   * without traffic.
   */
  ping: 30_000,
  /** The time in milliseconds without an answer to a PING after which the gateway ends the connection to an agent. */
  pingAnswer: 20_000,
  /**
   * The shortest time in milliseconds without a stream after which the gateway ends a connection. The longest is twice that. An
   * agent whose stream was refused leaves its connection open, and opens another one. An agent that connects gives up after 20
   * seconds.
   */
  connectionWithoutStream: 30_000,
  firstRetry: 250,
  longestRetry: 15_000,
  drain: 10_000,
  drainOfOptional: 1_000,
};
export type GatewayTimings = typeof defaultTimings;

/** Returns the counts that a gateway keeps for its metrics, all of them 0. */
export function noCounts() {
  return {
    /**
     * The number of streams that were refused because of their certificate, registration or job-id, or because the CVM opened too
     * many.
     */
    streamsRefused: 0,
    /**
     * The number of streams that were refused because another agent is connected as the CVM, and answers. These streams do not
     * count in streamsRefused.
     */
    identityConflicts: 0,
    /** The number of reports of runs that were dropped before they reached the service, such as those beyond a limit. */
    reportsDropped: 0,
    logLinesDropped: 0,
    /**
     * The number of events that no agent sends, that belong to no run or that no report can contain, and of attestations that were
     * left out.
     */
    eventsRefused: 0,
    eventsInferred: 0,
  };
}
export type GatewayCounts = ReturnType<typeof noCounts>;

/** The parts of a gateway that the sessions of its CVMs share, such as its clock and its counts. */
export interface GatewayParts {
  /** The identifier of this process of the gateway, new at each start. */
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
 * Returns the pause in milliseconds, partly random, before the gateway repeats an attempt that failed.
 * @param failures the number of failures in a row, from 1
 */
export const retryPause = (failures: number, { firstRetry, longestRetry }: RetryTimings): number =>
  growingPause(failures, { first: firstRetry, longest: longestRetry }) * (0.5 + Math.random() / 2);

export const isLongestPause = (failures: number, { firstRetry, longestRetry }: RetryTimings): boolean =>
  growingPause(failures, { first: firstRetry, longest: longestRetry }) === longestRetry;

/**
 * Returns a function that starts a task, unless the task is still going on since an earlier call. Logs the first of several failures in
 * a row: a later call tries again.
 */
export function oneAtATime(task: () => Promise<void>, failure: string): () => void {
  let isGoingOn = false;
  let hasFailed = false;
  const attempt = async () => {
    try {
      await task();
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) log('WARN', failure, {}, error);
      hasFailed = true;
    } finally {
      isGoingOn = false;
    }
  };
  return () => {
    if (isGoingOn) return;
    isGoingOn = true;
    void attempt();
  };
}

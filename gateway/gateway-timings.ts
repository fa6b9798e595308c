/** The intervals and time limits of a gateway, in milliseconds. */
export interface GatewayTimings {
  /** How often to poll for the commands of all CVMs. */
  commands: number;
  /** How often to ask an agent for its state: with a run, and without. */
  stateOfBusy: number;
  stateOfIdle: number;
  /** The time that an agent has to answer a question, or to take a run. */
  answer: number;
  /** How long a new process has to send its attestation before it gets a run, and a spent one before it is refused a run. */
  attestation: number;
  spent: number;
  /** How long to wait before another attempt to obey the same command. */
  command: number;
  /** How long to wait before another stop of the same run. */
  stop: number;
  /**
   * How long an event may arrive after the state that it announces, with and without a log-forwarder. An agent that fails to send a line
   * of its log sends nothing else for 11 seconds.
   */
  lateEvent: number;
  lateEventWithoutForwarder: number;
  /** How often to read which run an agent process was given, for messages that may be of another run. */
  record: number;
  /** How often to check that a CVM is still registered with its certificate, and held by this gateway. */
  presence: number;
  /** How often to renew the gateway's lease. Without a renewal, its CVMs count as disconnected after 60 seconds. */
  lease: number;
  /** How often to poll for messages of other gateways. */
  messages: number;
  /** How often to send a PING on a connection. Agents send none, and load balancers close connections without any traffic. */
  ping: number;
  /** How long the other side may take to answer a PING before the gateway ends the connection. */
  pingAnswer: number;
  /**
   * How long a connection may have no stream. Then the gateway ends it, and cuts it up to as much later. An agent whose stream was
   * refused leaves its connection open, and opens another one. One that connects gives up after 20 seconds.
   */
  connectionWithoutStream: number;
  /** The first and the longest pause between attempts to report. */
  firstRetry: number;
  longestRetry: number;
  /** How long a stop waits until the reports are taken, and how long for those that may be left out. */
  drain: number;
  drainOfOptional: number;
}

export const defaultTimings: GatewayTimings = {
  commands: 500,
  stateOfBusy: 15_000,
  stateOfIdle: 25_000,
  answer: 5_000,
  attestation: 5_000,
  spent: 15_000,
  command: 1_000,
  stop: 15_000,
  lateEvent: 13_000,
  lateEventWithoutForwarder: 3_000,
  record: 1_000,
  presence: 45_000,
  lease: 10_000,
  messages: 500,
  ping: 30_000,
  pingAnswer: 20_000,
  connectionWithoutStream: 30_000,
  firstRetry: 250,
  longestRetry: 15_000,
  drain: 10_000,
  drainOfOptional: 1_000,
};

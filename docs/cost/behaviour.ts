/** How CVMs and clients are assumed to behave. */
export const behaviour = {
  pollInSeconds: 5,
  heartbeatInSeconds: 30,
  /** A CVM is up, and polls, before and after its run: so long together. */
  idleMinutesPerRun: 10,
  eventsPerRun: 8,
  /** The status is asked for while a run lasts. */
  statusInSeconds: 30,
  stoppedShare: 0.05,
  keysPerComputation: 3,
  /** Rows, events and runs of a computation. */
  tableBytesPerComputation: 40_000,
  /** What an execution logs of its states. */
  executionLogInBytes: 10_000,
} as const;

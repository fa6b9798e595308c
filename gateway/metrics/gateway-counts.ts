/** What a gateway has counted since its start. */
export interface GatewayCounts {
  /** Streams that were refused or ended, because of their certificate, registration or job-id, or because there are too many of them. */
  streamsRefused: number;
  /** Second agents of a CVM that were refused, because its first one still answers. They are not among the refused streams. */
  identityConflicts: number;
  /** Reports and lines of logs that were left out because a limit was reached. */
  reportsDropped: number;
  logLinesDropped: number;
  /** Events that belong to no run of their CVM, or that no report can contain. */
  eventsRefused: number;
  /** Events that were inferred from the state of an agent. */
  eventsInferred: number;
}

export function noCounts(): GatewayCounts {
  return {
    streamsRefused: 0,
    identityConflicts: 0,
    reportsDropped: 0,
    logLinesDropped: 0,
    eventsRefused: 0,
    eventsInferred: 0,
  };
}

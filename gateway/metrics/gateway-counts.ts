/** What a gateway has counted since its start. */
export class GatewayCounts {
  /** Streams that were refused because of their certificate, registration or job-id. */
  streamsRefused = 0;
  /** Second streams of a CVM whose first one still answers. */
  identityConflicts = 0;
  /** Reports and lines of logs that were left out because a limit was reached. */
  reportsDropped = 0;
  logLinesDropped = 0;
  /** Events that belong to no run of their CVM, or that no report can contain. */
  eventsRefused = 0;
  /** Events that were inferred from the state of an agent. */
  eventsInferred = 0;
}

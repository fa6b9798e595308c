/** The limit for each file. The files are public, so more would let anyone run up a bill. docs/cost.md has the most that it costs. */
export const referenceThrottling = { requestsPerSecond: 2, burst: 20 };

/** Of each file. Anybody may load them, so more would let anybody run up a bill. docs/cost.md has the most that this costs. */
export const referenceThrottling = { requestsPerSecond: 2, burst: 20 };

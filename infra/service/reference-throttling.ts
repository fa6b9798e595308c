/** The limit for each file, which anyone may read (docs/cost.md). */
export const referenceThrottling = { requestsPerSecond: 2, burst: 20 };

/** Time limits of SDK clients, in milliseconds. They leave time for another attempt before the deadline if a socket hangs. */
export const clientLimits = {
  connectionTimeout: 1_000,
  requestTimeout: 2_000,
  throwOnRequestTimeout: true,
} as const;

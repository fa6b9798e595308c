/** Time limits for clients of the SDK, in milliseconds. A socket that hangs is given up early enough for another attempt before the deadline. */
export const clientLimits = {
  connectionTimeout: 1_000,
  requestTimeout: 2_000,
  throwOnRequestTimeout: true,
} as const;

/** For clients of the SDK: a socket that hangs is given up in time for the next attempts to be made while the caller still waits. */
export const clientLimits = {
  connectionTimeout: 1_000,
  requestTimeout: 4_000,
  throwOnRequestTimeout: true,
} as const;

/** The exit codes of `cms`, which docs/command-line.md lists. */
export const exitCodes = {
  success: 0,
  failure: 1,
  usage: 2,
  notLoggedIn: 3,
  forbidden: 4,
  notFound: 5,
  conflict: 6,
  incomplete: 7,
  unavailable: 8,
  runFailed: 10,
  runCancelled: 11,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

import { printable } from 'computation-management-formats/printable';

interface Options {
  /** The command to type next after the error. */
  next?: string | undefined;
  exitCode?: ExitCode;
  /** The fields of the service's error, which `cms` prints with `--json`. */
  problem?: object;
  cause?: unknown;
}

/** An error that `cms` shows the user: what happened, and the command to type next. */
export class CmsError extends Error {
  override readonly name = 'CmsError';
  readonly next: string | undefined;
  readonly exitCode: ExitCode;
  readonly problem: object;

  constructor(message: string, { next, exitCode = exitCodes.failure, problem = {}, cause }: Options = {}) {
    super(message, { cause });
    this.next = next;
    this.exitCode = exitCode;
    this.problem = problem;
  }

  /** Returns this error with another command to type next. */
  leadingTo(next: string | undefined): CmsError {
    const { message, exitCode, problem, cause } = this;
    return new CmsError(message, { next, exitCode, problem, cause });
  }
}

/** Returns an error as one that `cms` shows the user, on one line. The message of another error may quote what was read. */
export function asCmsError(error: unknown): CmsError {
  if (error instanceof CmsError) return error;
  return new CmsError(printable(error instanceof Error ? error.message : String(error)), { cause: error });
}

/** The error of a mistake on the command line or in a file. */
export class UsageError extends CmsError {
  constructor(message: string, next?: string, cause?: unknown) {
    super(message, { next, exitCode: exitCodes.usage, cause });
  }
}

/** Returns an error with the exit code of its kind. @param next the command to type next */
export function errorOf(kind: keyof typeof exitCodes, message: string, next?: string, cause?: unknown): CmsError {
  return new CmsError(message, { next, exitCode: exitCodes[kind], cause });
}

/** Returns the code of an error of the system, such as `ENOENT`. Empty for other errors. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

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
  refused: 12,
  unsupported: 13,
  unbound: 14,
  twoHistories: 15,
  interrupted: 130,
} as const;

/** An exit code of `cms`. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

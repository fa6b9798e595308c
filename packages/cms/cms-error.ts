import { exitCodes, type ExitCode } from './exit-codes.ts';

interface Options {
  /** The command to type next. */
  next?: string | undefined;
  exitCode?: ExitCode;
  /** Fields of the service's error for `--json`. */
  problem?: object;
  cause?: unknown;
}

/** An error for the user: what happened, and the command to type next. */
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
}

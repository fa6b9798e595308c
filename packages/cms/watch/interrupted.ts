import { CmsError } from '../cms-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';

/** Returns the error of a command that Ctrl-C has ended, or another error as it is. */
export function interrupted(
  error: unknown,
  { signal }: Pick<Terminal, 'signal'>,
  message = 'Interrupted.',
  next?: string,
): unknown {
  const isSaid = error instanceof CmsError && error.exitCode === exitCodes.interrupted;
  return signal.aborted && !isSaid ? new CmsError(message, { next, exitCode: exitCodes.interrupted, cause: error }) : error;
}

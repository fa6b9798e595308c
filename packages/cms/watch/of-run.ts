import { CmsError } from '../cms-error.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';

/** What may succeed when it is repeated. Other errors lead elsewhere, such as to a login. */
const passing: ExitCode[] = [exitCodes.failure, exitCodes.unavailable];

/**
 * Returns an error of a command that watches a run, with the run in its JSON. The command to type next watches that run: a repeat of what
 * was typed may start another one.
 */
export function ofRun(error: unknown, run: string, watch: string): CmsError {
  const said =
    error instanceof CmsError ? error : new CmsError(error instanceof Error ? error.message : String(error), { cause: error });
  const { message, exitCode, cause } = said;
  const next = passing.includes(exitCode) ? watch : said.next;
  return new CmsError(message, { next, exitCode, problem: { ...said.problem, run_id: run }, cause });
}

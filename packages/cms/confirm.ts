import { CmsError } from './cms-error.ts';
import type { Context } from './context.ts';
import { exitCodes } from './exit-codes.ts';

/** Asks for a yes. @throws CmsError if the answer is another one, or nobody can answer */
export async function confirm(
  { terminal: { ask }, typed }: Pick<Context, 'terminal' | 'typed'>,
  question: string,
): Promise<void> {
  if (!ask)
    throw new CmsError('Cannot ask for confirmation: this is not a terminal.', {
      next: `${typed} --yes`,
      exitCode: exitCodes.usage,
    });
  const answer = await ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CmsError('Nothing was done.');
}

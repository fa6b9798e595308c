import { CmsError } from './cms-error.ts';
import { exitCodes } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/** Asks for a yes. @throws CmsError if the answer is another one, or nobody can answer */
export async function confirm({ ask }: Pick<Terminal, 'ask'>, question: string): Promise<void> {
  if (!ask) {
    throw new CmsError('Nobody can confirm this here.', { next: 'the same command with --yes', exitCode: exitCodes.usage });
  }
  const answer = await ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CmsError('Nothing was done.');
}

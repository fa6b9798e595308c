import { pages, type Schemas, ServiceProblem } from 'computation-management-client';
import { CmsError } from '../cms-error.ts';
import { manyComputations } from '../computation-reference.ts';
import type { Connection } from '../connection.ts';
import type { Context } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Collaboration } from './collaboration.ts';

type Row = Pick<Schemas['ComputationRow'], 'id'>;

/**
 * Finds the computation of a collaboration, by its identifier or by its owner and name.
 * @throws CmsError if there are several of the name, or none with the identifier
 */
export async function findComputation(
  { command, note }: Pick<Context, 'command' | 'note'>,
  { client, domain }: Connection,
  { id, name, owner }: Collaboration['computation'],
): Promise<Row | undefined> {
  if (id !== undefined) {
    const next = command('computation list');
    return await known(client.getComputation({ id, peek: 'true' }), { id, domain, next });
  }
  const found: Row[] = [];
  for await (const { items, offset, total } of pages(client, 'listComputations', { owner })) {
    found.push(...items.filter((each) => each.name === name));
    if (offset > 0 || total < manyComputations) continue;
    note(`Searching ${total} computations of ${owner} for ${JSON.stringify(name)}. To be faster, add its id to the file.\n`);
  }
  if (found.length < 2) return found[0];
  const list = found.map((each) => `  id: ${each.id}`).join('\n');
  throw new CmsError(`${owner} has several computations named ${JSON.stringify(name)}. Add one of these to the file:\n${list}`, {
    exitCode: exitCodes.usage,
  });
}

/** A file that names a computation never creates another one: each repeat would do so again. */
async function known<Found>(
  found: Promise<Found>,
  { id, domain, next }: { id: string; domain: string; next: string },
): Promise<Found> {
  try {
    return await found;
  } catch (error) {
    if (!(error instanceof ServiceProblem) || error.code !== 'not_found') throw error;
    throw new CmsError(
      `The domain ${domain} has no computation ${id}. Correct this id in the file. To create a computation, remove the id.`,
      { next, exitCode: exitCodes.notFound, cause: error },
    );
  }
}

import type { Schemas } from '../../api-types.ts';
import { items } from '../../pages.ts';
import { ServiceProblem } from '../../service-problem.ts';
import { CmsError } from '../cms-error.ts';
import type { Connection } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Collaboration } from './collaboration.ts';

type Row = Pick<Schemas['ComputationRow'], 'id'>;

/** Finds the computation of a collaboration, by its identifier or by its owner and name. @throws CmsError if there are several */
export async function findComputation(
  { client }: Connection,
  { id, name, owner }: Collaboration['computation'],
): Promise<Row | undefined> {
  if (id !== undefined) return await known(client.getComputation({ id, peek: 'true' }));
  const found: Row[] = [];
  for await (const each of items(client, 'listComputations', { owner })) if (each.name === name) found.push(each);
  if (found.length < 2) return found[0];
  const list = found.map((each) => `  id: ${each.id}`).join('\n');
  throw new CmsError(`${owner} has several computations named ${JSON.stringify(name)}. Add one of these to the file:\n${list}`, {
    exitCode: exitCodes.usage,
  });
}

async function known<Found>(found: Promise<Found>): Promise<Found | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof ServiceProblem && error.code === 'not_found') return undefined;
    throw error;
  }
}

import { type Arguments, wholeAnswer } from 'computation-management-client';
import { CmsError } from '../cms-error.ts';
import type { Connection } from '../connection.ts';
import type { Context } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Collaboration } from './collaboration.ts';
import { findComputation } from './find-computation.ts';
import type { Step } from './step.ts';

type Body = Arguments<'updateComputation'>['body'];

/**
 * Creates the computation of a collaboration, or updates the fields that differ from the file. Only the owner can.
 * @returns its identifier and what was done
 */
export async function syncComputation(
  context: Pick<Context, 'command' | 'note' | 'typed'>,
  connection: Connection,
  planned: Collaboration['computation'],
): Promise<{ id: string; step: Step }> {
  const { client, user } = connection;
  const { id: _, owner, ...fields } = planned;
  const done = (outcome: string): Step => ({ subject: 'computation', name: planned.name, outcome });
  const found = await findComputation(context, connection, planned);
  if (!found) {
    if (user !== owner) {
      const name = JSON.stringify(planned.name);
      throw new CmsError(`${owner} has not created the computation ${name} yet, and must type this first.`, {
        next: context.typed,
        exitCode: exitCodes.notFound,
      });
    }
    const created = await client.createComputation({ body: fields });
    return { id: created.id, step: done('created') };
  }
  const { id } = found;
  const { data, etag } = wholeAnswer(await client.call('getComputation', { id }));
  const before: Body = data;
  const agent_config = { ...before.agent_config, ...fields.agent_config };
  const after = { ...before, ...fields, agent_config };
  const changed = Object.keys(fields).filter((name) => !isSame(after[name as keyof Body], before[name as keyof Body]));
  if (changed.length === 0) return { id, step: done('unchanged') };
  if (user !== owner) return { id, step: done(`differs from the file: ${changed.join(', ')}`) };
  await client.updateComputation({ id, body: after, ifMatch: etag });
  return { id, step: done(`changed: ${changed.join(', ')}`) };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

/** Sorts the fields of an object, whose order says nothing. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
}

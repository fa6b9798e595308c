import { named } from './computation-reference.ts';
import type { Connection } from './connection.ts';
import type { Context } from './context.ts';

/**
 * Returns a note with the command that starts a run which lacks nothing. Approvals may be for certain CVMs: it names one on which all
 * that are needed count.
 */
export async function nextRun(
  context: Pick<Context, 'terminal' | 'command' | 'exampleCvm'>,
  connection: Connection,
  id: string,
): Promise<string> {
  const ofComputation = named(context, connection, id);
  const cvms = await approvedCvms(connection, id);
  if (cvms?.length === 0) {
    return `But the approvals are for different CVMs, so no run can start.\nNext: ${context.command(`approvals${ofComputation}`)}\n`;
  }
  const limit = cvms === undefined ? '' : `The approvals are only for runs on ${cvms.join(', ')}.\n`;
  const cvm = cvms?.[0] ?? (await context.exampleCvm());
  return `${limit}Next: ${context.command(`run${ofComputation} --cvm ${cvm} --watch`)}\n`;
}

/** Returns the CVMs on which all needed approvals count. Undefined: on all. */
async function approvedCvms({ client }: Connection, id: string): Promise<string[] | undefined> {
  const { needed, approvals } = await client.listApprovals({ id });
  const users = needed.map(({ user }) => user);
  const limits = approvals.flatMap(({ user, stale, cvm_ids }) =>
    cvm_ids?.length && !stale && users.includes(user) ? [cvm_ids] : [],
  );
  const [first, ...others] = limits;
  return first?.filter((cvm) => others.every((cvms) => cvms.includes(cvm)));
}

import type { Connection } from './context.ts';

/** Whether the approvals of a computation must be signed. False if it cannot be read. */
export async function demandsSignatures({ client }: Connection, id: string): Promise<boolean> {
  const computation = await client.getComputation({ id }).catch(() => undefined);
  return computation?.approval === 'all_signed';
}

import { type Client, ServiceProblem } from 'computation-management-client';

/** The names of computations. null: it is not there, such as after it was deleted. Missing: it is not read yet. */
export type Names = ReadonlyMap<string, string | null>;

/** Returns the names of computations. One that could not be read for another reason is missing, so it can be asked for again. */
export async function readNames(client: Client, ids: Iterable<string>, signal: AbortSignal): Promise<Names> {
  const names = new Map<string, string | null>();
  const read = async (id: string) => names.set(id, (await client.getComputation({ id, peek: 'true', signal })).name);
  await Promise.all(
    [...new Set(ids)].map((id) =>
      read(id).catch((error: unknown) => {
        if (isNotThere(error)) names.set(id, null);
      }),
    ),
  );
  return names;
}

function isNotThere(error: unknown): boolean {
  return error instanceof ServiceProblem && (error.code === 'not_found' || error.code === 'forbidden');
}

import { type Client, ServiceProblem } from 'computation-management-client';
import { useEffect, useEffectEvent, useState } from 'react';
import { useDomain } from '../access/console-context.ts';

/**
 * Returns the names of computations, each of which is read once while the component is shown. If `ids` is another array, the names that
 * could not be read are asked for again.
 */
export function useNames(ids: readonly string[] | undefined): Names {
  const { client } = useDomain();
  const [names, setNames] = useState<Names>(new Map());
  const readMissing = useEffectEvent((signal: AbortSignal) => {
    const missing = (ids ?? []).filter((id) => !names.has(id));
    return readNames(client, missing, signal);
  });
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    void readMissing(signal).then((read) => {
      if (read.size > 0 && !signal.aborted) setNames((before) => new Map([...before, ...read]));
    });
    return () => controller.abort();
  }, [ids]);
  return names;
}

/**
 * The names of computations by identifier. null: the computation does not exist, such as after it was deleted. Missing: the name is not
 * read yet.
 */
type Names = ReadonlyMap<string, string | null>;

/** Reads the names of computations. A name that could not be read is missing in the result, so that it can be asked for again. */
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

import { type Client, type Schemas, ServiceProblem } from 'computation-management-client';
import { useEffect, useEffectEvent, useState } from 'react';
import { useDomain } from '../access/console-context.ts';

/**
 * Returns the rows of computations, each of which is read once while the component is shown. If `ids` is another array, the rows that
 * could not be read are asked for again.
 */
export function useRows(ids: readonly string[] | undefined): Rows {
  const { client } = useDomain();
  const [rows, setRows] = useState<Rows>(new Map());
  const readMissing = useEffectEvent((signal: AbortSignal) => {
    const missing = (ids ?? []).filter((id) => !rows.has(id));
    return readRows(client, missing, signal);
  });
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    void readMissing(signal).then((read) => {
      if (read.size > 0 && !signal.aborted) setRows((before) => new Map([...before, ...read]));
    });
    return () => controller.abort();
  }, [ids]);
  return rows;
}

/**
 * The rows of computations by identifier. null: the computation does not exist, such as after it was deleted. Missing: the row is not
 * read yet.
 */
type Rows = ReadonlyMap<string, Schemas['ComputationRow'] | null>;

/** Reads the rows of computations. A row that could not be read is missing in the result, so that it can be asked for again. */
export async function readRows(client: Client, ids: Iterable<string>, signal: AbortSignal): Promise<Rows> {
  const rows = new Map<string, Schemas['ComputationRow'] | null>();
  const read = async (id: string) => rows.set(id, await client.getComputation({ id, peek: 'true', signal }));
  await Promise.all(
    [...new Set(ids)].map((id) =>
      read(id).catch((error: unknown) => {
        if (isNotThere(error)) rows.set(id, null);
      }),
    ),
  );
  return rows;
}

function isNotThere(error: unknown): boolean {
  return error instanceof ServiceProblem && (error.code === 'not_found' || error.code === 'forbidden');
}

import type { Schemas } from 'computation-management-client';
import { useDomain } from '../access/console-context.ts';
import { useLoaded } from '../loading/use-loaded.ts';

/** Returns the rows of computations by identifier, as far as they are there and could be read. */
export function useRows(ids: readonly string[] = []): ReadonlyMap<string, Schemas['ComputationRow']> {
  const { client } = useDomain();
  const wanted = [...new Set(ids)].sort();
  const loaded = useLoaded(wanted.join(), (signal) =>
    Promise.all(wanted.map((id) => client.getComputation({ id, peek: 'true', signal }).catch(() => undefined))),
  );
  return new Map(loaded.value?.flatMap((row) => (row ? [[row.id, row]] : [])));
}

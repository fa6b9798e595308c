import { useEffect, useEffectEvent, useState } from 'react';
import { type Client, ServiceProblem } from '../../client/index.ts';
import { useDomain } from '../shell/console-context.ts';

/**
 * Returns the names of computations, each of which is read once while the component is shown. A name that is not there yet, or cannot be
 * read, is missing. If `ids` is another array, the missing ones are asked for again.
 */
export function useNames(ids: readonly string[] | undefined): ReadonlyMap<string, string> {
  const { client } = useDomain();
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  const readMissing = useEffectEvent(async (signal: AbortSignal) => {
    const missing = [...new Set(ids)].filter((id) => !names.has(id));
    return await Promise.all(missing.map(async (id) => [id, await nameOf(client, id, signal)] as const));
  });
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    void readMissing(signal).then((read) => {
      const found = read.filter((entry): entry is [string, string] => entry[1] !== undefined);
      if (found.length > 0 && !signal.aborted) setNames((before) => new Map([...before, ...found]));
    });
    return () => controller.abort();
  }, [ids]);
  return names;
}

/** Undefined if it could not be read, such as after the computation was deleted. */
async function nameOf(client: Client, id: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await client.getComputation({ id, peek: 'true', signal })).name;
  } catch (error) {
    if (error instanceof ServiceProblem || signal.aborted) return undefined;
    throw error;
  }
}

import { useEffect, useEffectEvent, useState } from 'react';
import { useDomain } from '../shell/console-context.ts';
import { type Names, readNames } from './read-names.ts';

/**
 * Returns the names of computations, each of which is read once while the component is shown. If `ids` is another array, those that could
 * not be read are asked for again.
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

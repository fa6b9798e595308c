import { expect, vi } from 'vitest';
import { importHandler, type LoadHandler } from '../../local/functions/local-functions.ts';
import { untilTestEnds } from './patience.ts';

/** The functions of a stack with counts of their invocations, for `startStack({ load })`. */
export interface WatchedFunctions {
  load: LoadHandler;
  /** The number of invocations of this function that have started, and that have ended. */
  invocationsOf: (name: string) => { begun: number; ended: number };
  /** Waits until no function below this folder is running. Default: no function at all. */
  untilIdle: (folder?: string) => Promise<void>;
}

/** @param load loads the functions. Default: imports them from their files */
export function watchFunctions(load: LoadHandler = importHandler): WatchedFunctions {
  const watched = new Map<string, { begun: number; ended: number }>();
  const invocationsOf = (name: string) => {
    const invocations = watched.get(name) ?? { begun: 0, ended: 0 };
    watched.set(name, invocations);
    return invocations;
  };
  const underWay = (folder: string) =>
    [...watched].filter(([name, { begun, ended }]) => name.startsWith(folder) && begun > ended).map(([name]) => name);
  return {
    load: async (name) => {
      const handler = await load(name);
      return async (event, context) => {
        const invocations = invocationsOf(name);
        invocations.begun++;
        try {
          return await handler(event, context);
        } finally {
          invocations.ended++;
        }
      };
    },
    invocationsOf: (name) => ({ ...invocationsOf(name) }),
    untilIdle: (folder = '') => vi.waitFor(() => expect(underWay(folder)).toEqual([]), untilTestEnds),
  };
}

import { expect, vi } from 'vitest';
import { importHandler, type LoadHandler } from '../../infra/local/local-functions.ts';
import { untilTestEnds } from './patience.ts';

/** The functions of a stack, and what a test knows of their invocations. For `startStack({ load })`. */
export interface WatchedFunctions {
  load: LoadHandler;
  /** How many invocations of this function have begun so far, and how many have ended. */
  invocationsOf: (name: string) => { begun: number; ended: number };
  /** Waits until no invocation of a function below this folder is under way. Default: of any function. */
  untilIdle: (folder?: string) => Promise<void>;
}

/** @param load finds the functions. Default: the ones that their files export */
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

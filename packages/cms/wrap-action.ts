import type { Context } from './context.ts';

/** Makes the action of a command from a function that gets the context, then the arguments and the options of the command. */
export type WrapAction = <Given extends unknown[]>(
  action: (context: Context, ...given: Given) => Promise<void>,
) => (...given: Given) => Promise<void>;

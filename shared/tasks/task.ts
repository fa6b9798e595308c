import type { Context } from 'aws-lambda';
import * as v from 'valibot';
import { logger } from '../logger.ts';

/**
 * Wraps the work of a function that AWS calls itself: a step of the state machine, a rule, a schedule. Its input is parsed; its
 * errors are logged and thrown, since the caller retries by their name.
 */
export function task<S extends v.GenericSchema>(
  name: string,
  input: S,
  work: (input: v.InferOutput<S>, now: string) => Promise<unknown>,
) {
  return async (event: unknown, context?: Context): Promise<unknown> => {
    const log = logger();
    log.resetKeys();
    if (context) log.addContext(context);
    log.appendKeys({ task: name });
    try {
      return (await work(v.parse(input, event), new Date().toISOString())) ?? {};
    } catch (error) {
      log.error('The task failed.', error instanceof Error ? error : String(error));
      throw error;
    }
  };
}

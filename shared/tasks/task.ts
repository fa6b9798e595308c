import type { Context } from 'aws-lambda';
import * as v from 'valibot';
import { log, startLog } from '../logger.ts';

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
    startLog({ task: name, request_id: context?.awsRequestId });
    try {
      return (await work(v.parse(input, event), new Date().toISOString())) ?? {};
    } catch (error) {
      log('ERROR', 'The task failed.', { input: event }, error);
      throw error;
    }
  };
}

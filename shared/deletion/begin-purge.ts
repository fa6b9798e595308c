import { log } from '../logger.ts';

/**
 * Runs the part of a recorded purge that a deletion does at once. A failure is only logged, because the deletion has succeeded
 * and the scheduled purge does the rest.
 */
export async function beginPurge(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    log('WARN', 'The purge failed and will be retried.', {}, error);
  }
}

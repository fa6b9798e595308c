import { log } from '../logger.ts';

/**
 * What a deletion does at once of the purge that it has written down. Where that fails the deletion has succeeded all the
 * same, and the scheduled purge does the rest.
 */
export async function beginPurge(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    log('WARN', 'The purge goes on later.', {}, error);
  }
}

import { Deadline } from '../deadline.ts';
import { log } from '../logger.ts';
import type { Table } from '../table/table.ts';

/** Together with the deletion before, less than API Gateway waits. */
const timeInMilliseconds = 15_000;

/**
 * Runs the part of a recorded purge that a deletion does at once, for up to 15 seconds. A failure is only logged, because the
 * deletion has succeeded and the scheduled purge does the rest.
 */
export async function beginPurge(table: Table, work: (table: Table) => Promise<void>): Promise<void> {
  const deadline = new Deadline(timeInMilliseconds);
  try {
    await work({ ...table, deadline: () => deadline });
  } catch (error) {
    log('WARN', 'The purge failed and will be retried.', {}, error);
  }
}

import { log } from '../logger.ts';
import { deadlineOf, type Table } from '../table/table.ts';

/** Together with the deletion before, less than 3 seconds. */
const timeInMilliseconds = 1_500;

/**
 * Runs the part of a recorded purge that a deletion does at once, for up to 1.5 seconds. The scheduled purge does the rest. A
 * failure is only logged, because the deletion has succeeded.
 */
export async function beginPurge(table: Table, work: (table: Table) => Promise<void>): Promise<void> {
  const deadline = deadlineOf(table).next(timeInMilliseconds);
  try {
    await work({ ...table, deadline: () => deadline });
  } catch (error) {
    if (deadline.remaining > 0) log('WARN', 'The purge failed and will be retried.', {}, error);
    else log('INFO', 'The purge continues in the background.');
  }
}

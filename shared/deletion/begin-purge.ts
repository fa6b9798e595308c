import { callPurge } from './call-purge.ts';
import { log } from '../runtime/log.ts';
import { deadlineOf, type Table } from '../table/table.ts';

/** Together with the deletion before and the call after it, less than 3 seconds. */
const timeInMilliseconds = 1_500;
const timeOfCallInMilliseconds = 800;

/**
 * Runs the part of a recorded purge that a deletion does at once, for up to 1.5 seconds. The function of the purge does what is left: it
 * is called at once and each minute. A failure is only logged, because the deletion has succeeded.
 */
export async function beginPurge(table: Table, work: (table: Table) => Promise<void>): Promise<void> {
  const deadline = deadlineOf(table).next(timeInMilliseconds);
  try {
    await work({ ...table, deadline: () => deadline });
  } catch (error) {
    if (deadline.remaining > 0) log('WARN', 'The purge failed and will be retried.', {}, error);
    else log('INFO', 'The purge continues in the background.');
    await continueAtOnce(table);
  }
}

async function continueAtOnce(table: Table): Promise<void> {
  try {
    await callPurge(deadlineOf(table).next(timeOfCallInMilliseconds));
  } catch (error) {
    log('WARN', 'The purge could not be called. It continues within a minute.', {}, error);
  }
}

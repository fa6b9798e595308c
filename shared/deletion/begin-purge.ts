import { sharedClient } from '../runtime/clients.ts';
import type { Deadline } from '../runtime/deadline.ts';
import { environment } from '../runtime/environment.ts';
import { log } from '../runtime/log.ts';
import { signedPost } from '../runtime/signed-post.ts';
import { deadlineOf, type Table } from '../table/table.ts';

/**
 * The time in milliseconds that a request which deletes something spends on the purge of what is left. With the deletion before
 * and the call after it, the request takes less than 3 seconds.
 */
const timeInMilliseconds = 1_500;
/** The time limit in milliseconds for the call that continues a purge in the background. */
const timeOfCallInMilliseconds = 800;

/**
 * Begins the purge of what a deletion has left, for up to 1.5 seconds. The function of the purge does the rest: it is called at
 * once and each minute. A failure is only logged, because the deletion has succeeded.
 */
export async function beginPurge(table: Table, work: (table: Table) => Promise<void>): Promise<void> {
  const deadline = deadlineOf(table).next(timeInMilliseconds);
  try {
    await work({ ...table, deadline: () => deadline });
  } catch (error) {
    if (deadline.remaining > 0) log('WARN', 'The purge failed and will be retried.', {}, error);
    else log('INFO', 'The purge continues in the background.');
    const callPurge = sharedClient(purgeByLambda);
    await callPurge(deadlineOf(table).next(timeOfCallInMilliseconds)).catch((error: unknown) => {
      log('WARN', 'The purge could not be called. It continues within a minute.', {}, error);
    });
  }
}

/**
 * Returns a function that calls the Lambda function of the purge without waiting for its end. A service on one machine puts a direct
 * call in its place (`replaceClient`).
 */
export function purgeByLambda(): (deadline: Deadline) => Promise<void> {
  return async (deadline) => {
    const headers = { 'x-amz-invocation-type': 'Event' };
    const call = { service: 'lambda', url: environment().PURGE_URL, body: '{}', headers, signal: deadline.signal() };
    const { status, text } = await signedPost(call);
    if (status !== 202) throw new Error(`Lambda answered ${status}: ${text}`);
  };
}

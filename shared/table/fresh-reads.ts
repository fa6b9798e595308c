import { deadlineOf, type Table } from './table.ts';

/** Thrown if an item has changed since it was read. withFreshReads repeats the read and the write. */
export class StaleReadError extends Error {
  override readonly name: string = 'StaleReadError';
}

/**
 * Calls `decide` again after each StaleReadError. All attempts share one deadline.
 * @param decide reads, decides and writes; must use the table passed to it, which has this deadline
 * @throws ServiceError `unavailable` if StaleReadErrors continue until the deadline
 */
export async function withFreshReads<T>(table: Table, decide: (table: Table) => Promise<T>): Promise<T> {
  const deadline = deadlineOf(table);
  const shared = { ...table, deadline: () => deadline };
  for (let attempt = 1; ; attempt++) {
    try {
      return await decide(shared);
    } catch (error) {
      if (!(error instanceof StaleReadError)) throw error;
      await deadline.pause(attempt, error);
    }
  }
}

import type { AnyKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/**
 * A change of stored items that is made while the service runs. Between any two of its writes, both the current and the previous
 * version of the service read the table correctly. The previous one runs during a deployment and after a rollback.
 */
export interface Migration {
  /** Must never change, because the state is stored under it. */
  name: string;
  /**
   * Runs one step of a few seconds, from where the previous step ended. Must be safe to repeat and to run twice at once: each
   * write has a condition and uses the single writer of the row.
   */
  step: (table: Table, cursor: AnyKey | undefined) => Promise<Step>;
}

export interface Step {
  /** Where the next step starts; undefined if the migration is done, or if the first step is not. */
  next: AnyKey | undefined;
  /** Whether there is more to do from where this step started. `next` is then where that was. */
  isUnfinished?: boolean;
  /** Whether another runner has continued in place of this one. The step is not recorded. */
  isTakenOver?: boolean;
  /** The number of items that were changed. */
  changed: number;
}

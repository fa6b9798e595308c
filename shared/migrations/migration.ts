import type { Key } from '../table/keys.ts';
import type { Table } from '../table/table.ts';

/**
 * A change of what is stored, made while the service runs. Between any two writes of it the code of now reads the table rightly,
 * and so does the code of the version before, which runs beside it during a deployment and after a rollback.
 */
export interface Migration {
  /** Never changes, since the state is stored under it. */
  name: string;
  /**
   * One step, of a second or so: it takes up where the step before left off. Safe to repeat, and to do twice at once: each of its
   * writes has a condition, and goes through the one writer of the row.
   */
  step: (table: Table, cursor: Key | undefined) => Promise<Step>;
}

export interface Step {
  /** Where the next step goes on; undefined once all is done. */
  next: Key | undefined;
  /** How many items were changed. */
  changed: number;
}

import { listKeys, type List } from '../table/keys.ts';
import { incrementBy } from '../table/writes.ts';
import type { Table } from '../table/table.ts';

/** Assigns the number of the list's next member. Numbers are never reused. One round trip, one write unit. */
export function nextNumber(table: Table, list: List): Promise<number> {
  return incrementBy(table, listKeys.counter(list), 1);
}

import { listKeys, type List } from '../table/keys.ts';
import { incrementExisting, incrementFrom } from '../table/numbers.ts';
import { oldListKeys } from '../table/old-list-keys.ts';
import { getItem, type Table } from '../table/table.ts';

/** Functions of the previous version may still issue numbers for a moment. These are left to them. */
const numbersLeftToOldCounter = 10_000;

/** Assigns the number of the list's next member. Numbers are never reused. One round trip, one write unit. */
export async function nextNumber(table: Table, list: List): Promise<number> {
  const next = await incrementExisting(table, listKeys.counter(list));
  if (next !== undefined) return next;
  const old = await getItem(table, oldListKeys.counter(list));
  return incrementFrom(table, listKeys.counter(list), old ? Number(old['last_number']) + numbersLeftToOldCounter : 0);
}

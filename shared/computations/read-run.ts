import { numberOf } from 'computation-management-formats/identifiers';
import { runSchema, type Run } from './run.ts';
import { listKeys, lists, type RowKey } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { getItem, type Item, type Table } from '../table/table.ts';

/** @returns undefined if this service cannot have issued the identifier */
export function runKey(domain: string, id: string): RowKey | undefined {
  const number = numberOf(id);
  return number === undefined ? undefined : listKeys.row(lists.runs(domain), number);
}

/** @returns undefined if the row is missing or belongs to another run */
export function findRun(item: Item | undefined, id: string): Run | undefined {
  return item?.['id'] === id ? parseStored(runSchema, item, 'run') : undefined;
}

/** One round trip. */
export async function readRun(table: Table, domain: string, id: string): Promise<Run | undefined> {
  const key = runKey(domain, id);
  return key && findRun(await getItem(table, key), id);
}

import { runSchema, type Run } from '../computations/run.ts';
import { numberOf } from '../identifiers.ts';
import { listKeys, lists, type RowKey } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { getItem, type Item, type Table } from '../table/table.ts';

/** Where a run's row is; undefined for an identifier that this service cannot have issued. */
export function runKey(domain: string, id: string): RowKey | undefined {
  const number = numberOf(id);
  return number === undefined ? undefined : listKeys.row(lists.runs(domain), number);
}

/** The row read from `runKey`, undefined where there is none with this identifier. */
export function findRun(item: Item | undefined, id: string): Run | undefined {
  return item?.['id'] === id ? parseStored(runSchema, item, 'run') : undefined;
}

/** One round trip; undefined where there is no such run. */
export async function readRun(table: Table, domain: string, id: string): Promise<Run | undefined> {
  const key = runKey(domain, id);
  return key && findRun(await getItem(table, key), id);
}

import { indexKeys } from '../table/index-keys.ts';
import { readSettled } from '../table/read-settled.ts';
import type { Table } from '../table/table.ts';
import type { ListIndex } from './list-index.ts';
import { nameOfResource, parseEntry } from './log.ts';

/**
 * Returns whether a step of a resource is still in the log. Once it is not, it never is again, and no read that begins later needs to see
 * it: the trees have contained it for at least four seconds.
 */
export async function isLogged(table: Table, index: ListIndex, resource: number, version: number): Promise<boolean> {
  const [entry] = await readSettled(table, [indexKeys.entry(index, resource, nameOfResource(resource))]);
  return entry !== undefined && parseEntry(entry).steps.some((step) => step.version === version);
}

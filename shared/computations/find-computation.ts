import { notFound } from '../errors.ts';
import { numberOf } from '../identifiers.ts';
import { listKeys, lists, type RowKey } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { getItem, type Item, type Table } from '../table/table.ts';
import { storedComputation, type StoredComputation } from './computation.ts';

/** Returns the number of a computation in its list. @throws ServiceError `not_found` if this service cannot have issued the identifier */
export function computationNumber(id: string): number {
  const number = numberOf(id);
  if (number === undefined) throw notFound('computation');
  return number;
}

/** Returns the key of a computation's row. @throws ServiceError `not_found` if this service cannot have issued the identifier */
export function computationKey(domain: string, id: string): RowKey {
  return listKeys.row(lists.computations(domain), computationNumber(id));
}

/** Parses the row read at `computationKey`. Returns undefined if it is missing or belongs to another computation. */
export function findComputation(item: Item | undefined, id: string): StoredComputation | undefined {
  return item?.['id'] === id ? parseStored(storedComputation, item, 'computation') : undefined;
}

/** Like findComputation, but throws. @throws ServiceError `not_found` */
export function parseComputation(item: Item | undefined, id: string): StoredComputation {
  const computation = findComputation(item, id);
  if (!computation) throw notFound('computation');
  return computation;
}

/** Reads a computation's row in one round trip. @throws ServiceError `not_found` */
export async function readComputation(table: Table, domain: string, id: string): Promise<StoredComputation> {
  return parseComputation(await getItem(table, computationKey(domain, id)), id);
}

import { notFound } from '../errors.ts';
import { numberOf } from '../identifiers.ts';
import { listKeys, lists, type RowKey } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { getItem, type Item, type Table } from '../table/table.ts';
import { storedComputation, type StoredComputation } from './computation.ts';

/** @throws ServiceError `not_found` for an identifier that this service cannot have issued */
export function computationNumber(id: string): number {
  const number = numberOf(id);
  if (number === undefined) throw notFound('computation');
  return number;
}

/** Where a computation's row is. @throws ServiceError `not_found` for an identifier that this service cannot have issued */
export function computationKey(domain: string, id: string): RowKey {
  return listKeys.row(lists.computations(domain), computationNumber(id));
}

/** The row read from `computationKey`; undefined if it belongs to another computation or to none. */
export function findComputation(item: Item | undefined, id: string): StoredComputation | undefined {
  return item?.['id'] === id ? parseStored(storedComputation, item, 'computation') : undefined;
}

/** As findComputation. @throws ServiceError `not_found` */
export function parseComputation(item: Item | undefined, id: string): StoredComputation {
  const computation = findComputation(item, id);
  if (!computation) throw notFound('computation');
  return computation;
}

/** One round trip. @throws ServiceError `not_found` */
export async function readComputation(table: Table, domain: string, id: string): Promise<StoredComputation> {
  return parseComputation(await getItem(table, computationKey(domain, id)), id);
}

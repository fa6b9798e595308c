import { parseHead, type JournalHead } from '../events/journal-head.ts';
import { journalKeys, type Key, type RowKey } from '../table/keys.ts';
import { readSettled } from '../table/read-settled.ts';
import type { Item, Table } from '../table/table.ts';
import type { StoredComputation } from './computation.ts';
import { computationKey, parseComputation } from './find-computation.ts';

/**
 * A computation that was read in order to change it: its row and the head of its journal. Every change asserts that neither has
 * changed since. Otherwise the transaction fails with StaleReadError, which withFreshReads handles.
 */
export interface ComputationToChange {
  domain: string;
  row: StoredComputation;
  head: JournalHead;
}

/**
 * Returns the keys of the items that parseToChange parses, in this order.
 * @throws ServiceError `not_found` if this service cannot have issued the identifier
 */
export function keysToChange(domain: string, id: string): [RowKey, Key] {
  return [computationKey(domain, id), journalKeys.head(id)];
}

/** Parses the items read at keysToChange. @throws ServiceError `not_found` */
export function parseToChange(domain: string, id: string, [row, head]: (Item | undefined)[]): ComputationToChange {
  return { domain, row: parseComputation(row, id), head: parseHead(head) };
}

/**
 * Reads a computation with readSettled, so that no item read afterwards is older than its row. One round trip.
 * @throws ServiceError `not_found`
 */
export async function readToChange(table: Table, domain: string, id: string): Promise<ComputationToChange> {
  return parseToChange(domain, id, await readSettled(table, keysToChange(domain, id)));
}
